"""Fits that read their data in passes: arrays, memory maps, Parquet files, workers of Dask."""

import atexit
import tempfile
from functools import cache, partial
from pathlib import Path

import numpy as np

from unshuffle import ShuffledRegressor, StochasticEMRegressor, Streaming, fit_parquet

from . import data as made
from .cases import ESTIMATE, KNOWN, START
from .methods import ask, bootstrap, intervals, predict, summary
from .record import attributes

SMALL_PARTS = Streaming(rows_per_part=90)


def array(of, settings, streaming=SMALL_PARTS):
    """A fit to an array in memory."""
    given = of()
    model = StochasticEMRegressor(random_state=0, streaming=streaming, **settings).fit(**given)
    return attributes(model) | ask(model, given, (intervals, predict, summary))


def memory_map(scattered):
    """A fit to a file; scattered groups are collected in temporary files first."""
    given = dict(made.groups(3000, 4, 150))
    if not scattered:
        order = np.argsort(given["groups"], kind="stable")
        given = {name: values[order] for name, values in given.items()}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.npy"
        np.save(path, given["X"])
        given["X"] = np.load(path, mmap_mode="r")
        model = StochasticEMRegressor(streaming=Streaming(rows_per_part=500), random_state=0)
        return attributes(model.fit(**given))


def resumed():
    """A fit that stops after four iterations and continues from its checkpoint."""
    given = made.groups()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fit.npz"
        for n_iter, resume in ((4, False), (9, True)):
            streaming = Streaming(rows_per_part=90, checkpoint=path, resume=resume)
            model = StochasticEMRegressor(
                max_iter=n_iter, tol=0, random_state=0, streaming=streaming
            ).fit(**given)
    return attributes(model)


def write_parquet(folder, given):
    """Two files of unequal length, in several row groups."""
    table = made.frame(lambda: given)
    nobody = np.zeros(len(table["y"]), dtype=bool)
    frame = table["X"].assign(y=np.asarray(table["y"]), sure=table.get("known", nobody))
    if "groups" in table:
        frame["zone"] = np.asarray(table["groups"])
    for k, rows in enumerate((slice(None, 170), slice(170, None))):
        frame[rows].to_parquet(Path(folder) / f"{k}.parquet", row_group_size=50)
    return frame


def parquet(of, settings, streaming=SMALL_PARTS, on_workers=False):
    """A fit to two Parquet files."""
    given = of()
    with tempfile.TemporaryDirectory() as folder:
        write_parquet(folder, given)
        if on_workers:
            settings = settings | {"scheduler": cluster().scheduler_address}
        model = fit_parquet(
            folder, label="y", group="zone" if "groups" in given else None, known="sure",
            features=list("abcd"), streaming=streaming, random_state=0, **settings,
        )  # fmt: skip
    return attributes(model)


@cache
def cluster():
    """Two workers, for all cases that need some."""
    from distributed import LocalCluster

    workers = LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs="ERROR"
    )
    atexit.register(workers.close)
    return workers


def dask_frame(settings):
    """A Dask data frame whose parts are on workers."""
    import dask.dataframe as dd
    from distributed import Client

    with tempfile.TemporaryDirectory() as folder, Client(cluster()):
        frame = dd.from_pandas(write_parquet(folder, KNOWN()), npartitions=3)
        model = StochasticEMRegressor(random_state=0, streaming=Streaming(), **settings)
        model.fit(frame[list("abcd")], frame["y"], groups=frame["zone"], known=frame["sure"])
    return attributes(model)


def dask_arrays(estimator, **settings):
    """Dask arrays; without `Streaming` they are brought into memory."""
    import dask.array as da
    from distributed import Client

    given = made.groups()
    with Client(cluster()):
        X = da.from_array(given["X"], chunks=(150, 2))
        y = da.from_array(given["y"], chunks=130)
        model = estimator(random_state=0, **settings).fit(X, y, groups=given["groups"])
    return attributes(model) | ask(model, given, (intervals,))


def in_memory_from_parquet():
    """Small files without `Streaming` are fitted in memory."""
    with tempfile.TemporaryDirectory() as folder:
        write_parquet(folder, KNOWN())
        model = fit_parquet(folder, label="y", group="zone", known="sure", random_state=0)
    return attributes(model) | ask(model, {}, (bootstrap,))


CASES = {
    "groups": partial(array, made.groups, {}),
    "groups, one part": partial(array, made.groups, {}, Streaming()),
    "groups, two threads": partial(array, made.groups, {"n_jobs": 2}),
    "groups, no intercept": partial(array, made.groups, {"fit_intercept": False}),
    "groups, ridge, temper": partial(array, made.groups, {"ridge": 0.1, "temper": 1.5}),
    "groups, init": partial(array, made.groups, {"init": START}),
    "groups, known rows": partial(array, KNOWN, {}),
    "groups, single precision": partial(array, made.single_precision, {}),
    "groups, rank": partial(array, made.dependent, {}),
    "groups, all iterations": partial(array, made.groups, {"tol": 0, "max_iter": 7}),
    "groups, schedule": partial(array, made.groups, {"n_steps": 4000, "burn_in": 800}),
    "groups, not converged": partial(array, made.zones, {"max_iter": 6}),
    "groups, continued": resumed,
    "one group": partial(array, made.full, {"init": START[2:]}),
    "mostly right": partial(array, made.swapped_in_groups, ESTIMATE),
    "mostly right, one group": partial(array, made.swapped, ESTIMATE),
    "mostly right, rate given": partial(array, made.swapped_in_groups, {"mismatch_rate": 0.3}),
    "mostly right, init": partial(array, made.swapped_in_groups, {"init": START, **ESTIMATE}),
    "large": partial(array, made.large, {}, Streaming(rows_per_part=60_000)),
    "memory map": partial(memory_map, False),
    "memory map, scattered groups": partial(memory_map, True),
    "parquet": partial(parquet, KNOWN, {}),
    "parquet, mostly right": partial(parquet, made.swapped_in_groups, ESTIMATE),
    "parquet, one group": partial(parquet, made.swapped, ESTIMATE),
    "parquet, in memory": in_memory_from_parquet,
    "workers, parquet": partial(parquet, KNOWN, {}, on_workers=True),
    "workers, parquet, mostly right": partial(
        parquet, made.swapped_in_groups, ESTIMATE, on_workers=True
    ),
    "workers, frame": partial(dask_frame, {}),
    "workers, arrays": partial(dask_arrays, StochasticEMRegressor, streaming=Streaming()),
    "workers, arrays into memory": partial(dask_arrays, ShuffledRegressor, n_candidates=60),
}
