"""Fits on a cluster: the same bits as on one machine, whatever happens to the workers."""

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest

from fitting import SHORT, same_fit
from unshuffle import (
    HardEMRegressor,
    SchedulerLostError,
    StochasticEMRegressor,
    Streaming,
    fit_parquet,
)
from unshuffle.data.cluster import DaskParts
from unshuffle.datasets import make_shuffled_regression
from unshuffle.estimators._sources import SourceSettings, find_source, into_memory

pytest.importorskip("distributed")
import dask.array as da
import dask.dataframe as dd
from distributed import Client, LocalCluster

# Dask and its event loop leave sockets and warnings behind that are not ours.
pytestmark = [pytest.mark.dask, pytest.mark.filterwarnings("default")]

NAMES = ["a", "b", "c"]


@pytest.fixture(scope="module")
def frame():
    data = make_shuffled_regression(
        1500, 3, noise=0.3, shuffle="groups", n_groups=120, group_by="random", random_state=0
    )
    known = np.random.default_rng(0).random(1500) < 0.05
    frame = pd.DataFrame(data.X, columns=NAMES)
    return frame.assign(y=data.y, zone=[f"zone {g}" for g in data.groups], sure=known)


@pytest.fixture(scope="module")
def files(frame, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for k in range(3):
        frame[500 * k : 500 * (k + 1)].to_parquet(folder / f"{k}.parquet", row_group_size=100)
    return folder


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        yield cluster


def fit_files(files, scheduler=None, rows_per_part=250, **more):
    return fit_parquet(
        files, label="y", group="zone", known="sure", scheduler=scheduler,
        streaming=Streaming(rows_per_part=rows_per_part), **{**SHORT, **more},
    )  # fmt: skip


def test_files_give_the_bits_of_the_arrays(frame, files):
    here = StochasticEMRegressor(streaming=Streaming(), **SHORT)
    here.fit(frame[NAMES].to_numpy(), frame["y"], groups=frame["zone"], known=frame["sure"])
    there = fit_files(files)
    assert same_fit(here, there)
    assert there.feature_names_in_.tolist() == NAMES


def test_clusters_give_the_bits_of_one_machine(frame, files, cluster):
    here = fit_files(files)
    there = fit_files(files, cluster.scheduler_address)
    assert same_fit(here, there)
    assert same_fit(fit_files(files, cluster.scheduler_address, rows_per_part=100), here)


def test_dask_frames_and_arrays(frame, files, cluster):
    here = fit_files(files)
    model = StochasticEMRegressor(streaming=Streaming(), **SHORT)
    with Client(cluster):
        table = dd.from_pandas(frame, npartitions=4)
        model.fit(table[NAMES], table["y"], groups=table["zone"], known=table["sure"])
        assert same_fit(model, here)
        assert model.feature_names_in_.tolist() == NAMES
        X = da.from_array(frame[NAMES].to_numpy(), chunks=(400, 2))
        y = da.from_array(frame["y"].to_numpy(), chunks=300)
        codes = pd.factorize(frame["zone"])[0]
        model.fit(X, y, groups=codes, known=frame["sure"].to_numpy())
        assert same_fit(model, here)


def test_a_worker_that_dies_changes_nothing(files, cluster):
    here = fit_files(files, mismatch_rate="estimate")
    killed = []

    def kill(progress):
        if progress.done == 2:
            worker = next(iter(cluster.workers.values()))
            killed.append(worker.pid)
            os.kill(worker.pid, signal.SIGKILL)

    there = fit_files(files, cluster.scheduler_address, callback=kill, mismatch_rate="estimate")
    assert killed
    assert same_fit(there, here)


def test_errors_of_workers_are_raised_as_they_are(frame, files, cluster):
    # A local function travels by value: workers cannot import the modules of tests.
    def fail_to_read(part):
        raise FileNotFoundError("nowhere")

    with Client(cluster) as client:
        parts = DaskParts(client, client.map(abs, [1, 2]))
        with pytest.raises(FileNotFoundError, match="nowhere"):
            parts.map(fail_to_read, name="read")
        holes = frame.assign(a=frame["a"].where(frame.index != 700))
        table = dd.from_pandas(holes, npartitions=3)
        model = StochasticEMRegressor(streaming=Streaming(), **SHORT)
        with pytest.raises(ValueError, match="NaN or infinity in row 700, column 0"):
            model.fit(table[NAMES], table["y"], groups=table["zone"])


def test_small_collections_are_fitted_in_memory(frame):
    table = dd.from_pandas(frame, npartitions=2)
    for model in (
        StochasticEMRegressor(random_state=0, max_iter=3, tol=0),
        HardEMRegressor(n_init=2, random_state=0),
    ):
        here = model.fit(frame[NAMES], frame["y"], groups=frame["zone"]).coef_
        there = model.fit(table[NAMES], table["y"], groups=table["zone"]).coef_
        assert np.array_equal(here, there)
        assert len(model.expected_labels_) == len(frame)


def test_large_collections_are_read_in_passes_or_refused(frame):
    small = SourceSettings(large=1000)
    table = dd.from_pandas(frame, npartitions=2)
    data = table[NAMES], table["y"], table["zone"], None
    in_passes = StochasticEMRegressor(**SHORT)  # threads of this process, without a cluster
    in_passes._fit_in_passes(find_source("auto", *data, small))
    assert not hasattr(in_passes, "expected_labels_")
    arrays = StochasticEMRegressor(streaming=Streaming(), **SHORT)
    arrays.fit(frame[NAMES], frame["y"], groups=frame["zone"])
    assert same_fit(arrays, in_passes)
    with pytest.raises(ValueError, match=r"1500 rows of 3 features .* use StochasticEMRegressor"):
        into_memory(HardEMRegressor(), *data, settings=small)
    never = StochasticEMRegressor(streaming="never", **SHORT)
    assert find_source("never", *data, small) is None
    X, y, zone, _ = into_memory(never, *data, settings=small)
    assert len(never.fit(X, y, groups=zone).expected_labels_) == len(frame)


def test_messages(frame):
    table = dd.from_pandas(frame.assign(hole=frame["zone"].where(frame.index > 3)), npartitions=2)
    model = StochasticEMRegressor(streaming=Streaming(), **SHORT)
    with pytest.raises(ValueError, match="columns of the same data frame"):
        model.fit(table[NAMES], frame["y"].to_numpy(), groups=table["zone"])
    with pytest.raises(ValueError, match="column 'zone' has type"):
        model.fit(table[["a", "zone"]], table["y"])
    with pytest.raises(ValueError, match="the group of row 0 is missing"):
        model.fit(table[NAMES], table["y"], groups=table["hole"])
    X = da.ones((10, 2))
    with pytest.raises(ValueError, match=r"10 rows, but there is a column of shape \(9,\)"):
        model.fit(X, da.ones(9))
    with pytest.raises(SchedulerLostError, match="no scheduler answers at"):
        import dask

        with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
            fit = StochasticEMRegressor(streaming=Streaming(scheduler="tcp://127.0.0.1:9"), **SHORT)
            fit.fit(table[NAMES], table["y"], groups=table["zone"])


SCHEDULER = """
    from distributed import LocalCluster
    if __name__ == "__main__":
        with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster:
            print(cluster.scheduler_address, flush=True)
            input()
"""


@pytest.mark.slow
def test_a_scheduler_that_dies_leaves_a_checkpoint(files, tmp_path):
    script, path = tmp_path / "cluster.py", tmp_path / "fit.npz"
    script.write_text(textwrap.dedent(SCHEDULER))
    process = subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def kill(progress):
        if progress.done == 3:
            process.kill()

    with process:
        address = process.stdout.readline().strip()
        with pytest.raises(SchedulerLostError, match="resume"):
            fit_files(files, address, callback=kill, checkpoint=path, checkpoint_every=100)
    assert np.load(path)["coef_path"].shape == (3, 3)
    assert same_fit(fit_files(files, checkpoint=path, resume=True), fit_files(files))
