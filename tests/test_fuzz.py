"""A few hundred odd calls; `make fuzz` makes ten thousand."""

import pytest

from fuzzing import run

CALLS = 100


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_odd_calls_end_in_answers_or_clear_errors(part):
    failures, counts = run(CALLS, seed=2, first=part * CALLS)
    assert not failures, "\n".join(f"call {f.number}: {f.what}\n{f.trace}" for f in failures)
    assert counts["answered"] > CALLS // 5
