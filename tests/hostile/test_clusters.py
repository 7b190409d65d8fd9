"""Clusters that are not there, or too small: one line, soon."""

import socket
import subprocess
import sys
import threading
import time
from contextlib import closing

import numpy as np
import pytest

from hostile.large_parquet import written
from unshuffle import SchedulerLostError, Streaming, WorkerLostError, fit_parquet
from unshuffle.data import cluster
from unshuffle.data.scheduler import check_scheduler
from unshuffle.data.workers import Load, check_memory, check_running

pytest.importorskip("distributed")
from distributed import KilledWorker

# Dask and its event loop leave sockets and warnings behind that are not ours.
pytestmark = [pytest.mark.dask, pytest.mark.filterwarnings("default")]
MOST_SECONDS = 5
GB = 10**9


@pytest.fixture
def listening():
    """Start a server that says something to whoever connects; gives its port."""
    opened = []

    def start(words):
        server = socket.create_server(("127.0.0.1", 0))
        opened.append(server)

        def serve():
            while True:
                try:
                    connection = server.accept()[0]
                except OSError:
                    return
                opened.append(connection)
                if words is None:
                    connection.close()
                else:
                    connection.sendall(words)

        threading.Thread(target=serve, daemon=True).start()
        return server.getsockname()[1]

    yield start
    for one in opened:
        with closing(one):
            one.close()


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.parquet"
    n = np.arange(40.0)
    path.write_bytes(written({"zone": n // 4, "a": np.sin(n), "y": np.cos(3 * n)}))
    return path


def refused(address):
    """The error, where it comes in time."""
    started = time.monotonic()
    with pytest.raises(SchedulerLostError) as error:
        check_scheduler(address)
    assert time.monotonic() - started < MOST_SECONDS - 1.5  # the rest is for the start of Python
    return str(error.value)


@pytest.mark.parametrize(
    "address",
    ["", "localhost", "tcp://", "tcp://:8786", "nonsense", "tcp://host", "tcp://host:99999",
     "tcp://ho st:1", "tcp://host:port", "tcp://[::1:8786", "\x1b:8786\n"],
)  # fmt: skip
def test_what_is_no_address_is_refused(address):
    assert "is no address of a scheduler, such as tcp://" in refused(address)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "127.0.0.1:9", "tls://127.0.0.1:9"])
def test_an_address_without_a_server_is_refused(address):
    assert f"no scheduler answers at {address} (Connection refused)" in refused(address)


def test_a_name_that_no_machine_has_is_refused():
    assert "no scheduler answers at tcp://no.such.host.invalid:8786" in refused(
        "tcp://no.such.host.invalid:8786"
    )


@pytest.mark.parametrize(
    ("words", "problem"),
    [(b"", "no answer within 2.5 s"), (b"SSH-2.0-OpenSSH\r\n", "not Dask"), (None, "closed")],
    ids=["silent", "another server", "closes"],
)
def test_a_server_that_is_no_scheduler_is_refused(listening, words, problem):
    assert problem in refused(f"tcp://127.0.0.1:{listening(words)}")


@pytest.mark.parametrize("silent", [False, True])
def test_a_shell_gets_one_line_in_time(rows, listening, silent):
    address = f"tcp://127.0.0.1:{listening(b'') if silent else 9}"
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "unshuffle", "fit", rows, "-y", "y", "-g", "zone", "--pairing",
         "lost", "--scheduler", address],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert time.monotonic() - started < MOST_SECONDS
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert f"unshuffle fit: no scheduler answers at {address}" in done.stderr


def test_a_scheduler_in_another_process_has_no_inner_address(rows):
    done = subprocess.run(
        [sys.executable, "-m", "unshuffle", "fit", rows, "-y", "y", "--scheduler", "inproc://1/2"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "tcp" in done.stderr


class FakeClient:
    """A cluster of workers with some memory."""

    def __init__(self, *limits, status="running"):
        about = {f"tcp://w{k}": {"memory_limit": m, "status": status} for k, m in enumerate(limits)}
        self.info = {"workers": about}
        self.scheduler = None

    def scheduler_info(self):
        return self.info


def test_workers_need_memory_for_their_share():
    table = Load(1_000_000, 10, n_parts=8)
    alone, two = table.needed(1), table.needed(2)
    assert 0.5 * GB < two < alone < GB
    # Without groups the table is one part, which one worker holds.
    assert Load(1_000_000, 10, n_parts=1).needed(2) == alone
    assert table.needed(100) == table.needed(8)
    assert Load(10, 1, 1).needed(1) < 0.5 * GB


def test_a_worker_that_is_too_small_is_told_what_it_needs():
    table = Load(10_000_000, 10, n_parts=10)
    check_memory(FakeClient(8 * GB, 8 * GB), table)
    check_memory(FakeClient(0, 0), table)  # no limit
    check_memory(FakeClient(), table)
    with pytest.raises(
        WorkerLostError, match=r"tcp://w1 may use 1\.00 GB .* about 2\.35 GB on eac"
    ):
        check_memory(FakeClient(8 * GB, GB), table)


def test_workers_that_are_paused_are_not_waited_for():
    check_running(FakeClient(GB), Load())
    for client in (FakeClient(GB, status="paused"), FakeClient()):
        with pytest.raises(WorkerLostError, match=r"paused or gone.* needs about 0\.44 GB"):
            check_running(client, Load())


@pytest.mark.parametrize(
    "error",
    [KilledWorker("task", None, 3), RuntimeError("P2P 7d4 failed during transfer phase")],
)
def test_workers_that_died_are_reported_in_our_words(error):
    table = Load(1_000_000, 10, n_parts=8)
    with (
        pytest.raises(WorkerLostError, match=r"several workers died .* about 0\.63 GB"),
        cluster.told_of_lost_scheduler(FakeClient(GB, GB), [], table),
    ):
        raise error


def test_other_errors_pass():
    with (
        pytest.raises(RuntimeError, match="something else"),
        cluster.told_of_lost_scheduler(FakeClient(), [], Load()),
    ):
        raise RuntimeError("something else")


CLUSTER = """
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=":0", memory_limit="{limit}"
    ) as cluster:
        print(cluster.scheduler_address, flush=True)
        input()
"""


def test_a_real_worker_that_is_too_small_is_refused(rows, tmp_path):
    script = tmp_path / "cluster.py"
    script.write_text(CLUSTER.format(limit="400MB"))
    with subprocess.Popen(
        [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        address = process.stdout.readline().strip()
        done = subprocess.run(
            [sys.executable, "-m", "unshuffle", "fit", rows, "-y", "y", "-g", "zone", "--pairing",
             "lost", "--scheduler", address],
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        process.communicate("\n", timeout=60)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "may use 0.40 GB of memory, but this table needs about 0.44 GB" in done.stderr


def test_workers_that_are_killed_again_and_again(rows, monkeypatch):
    """The real error of Dask, from workers that die while they make a part."""
    from dask import config
    from distributed import LocalCluster

    from unshuffle.estimators import _sources

    def die(piece):
        import os

        os._exit(1)

    monkeypatch.setattr(_sources, "part_of", die)
    with (
        config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as workers,
        pytest.raises(WorkerLostError, match="workers died"),
    ):
        fit_parquet(
            rows, label="y", group="zone", random_state=0,
            streaming=Streaming(scheduler=workers.scheduler_address),
        )  # fmt: skip
