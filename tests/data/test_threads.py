import threading

import pytest

from unshuffle.data import threads
from unshuffle.data.threads import Workers


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_answers_come_in_the_order_of_the_items(n_jobs):
    with Workers(n_jobs) as workers:
        assert workers.map(lambda k: k * k, range(50)) == [k * k for k in range(50)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_errors_pass_through_and_the_rest_is_dropped(n_jobs):
    done = []
    gate = threading.Event()

    def work(k):
        if k == 0:
            raise ZeroDivisionError
        gate.wait(0.2)
        done.append(k)

    with pytest.raises(ZeroDivisionError), Workers(n_jobs) as workers:
        workers.map(work, range(100))
    assert len(done) < 50


def test_a_process_without_room_for_spare_memory_works(monkeypatch):
    """Memory is kept to save time: where it may not be taken, a fit goes on without it."""

    def refuse(*arguments, **more):
        raise MemoryError

    monkeypatch.setattr(threads.np, "empty", refuse)
    with threads.Workers(1) as workers:
        assert workers.map(abs, [-1]) == [1]
