"""Parts on the workers of a Dask cluster.

The only module that knows Dask, and it loads it when it is called. Whole groups are brought
together by Dask's own shuffle; parts stay where they were made. A question to all parts
sends a few numbers to each and brings a few back. A part that is lost with its worker is made again
by Dask from the data, because nothing else is in it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import numpy as np

from ..exceptions import SchedulerLostError, WorkerLostError
from .scheduler import check_scheduler
from .settings import READ
from .workers import Load, check_memory, check_running, killed

if TYPE_CHECKING:
    from distributed import Client, Future

Answer = TypeVar("Answer")

# Columns beside the features while the table is shuffled.
LABEL, GROUP, KNOWN, NUMBER = "__label__", "__group__", "__known__", "__number__"
SHUFFLE = "p2p"
NO_LOAD = Load()


@dataclass(frozen=True, eq=False)
class Piece:
    """Rows of whole groups, as one worker holds them.

    Attributes
    ----------
    X : array of shape (n, d)
        float32 where all columns are, else float64.
    y, codes, numbers, known : arrays of shape (n,)
        Labels, numbers of the groups, numbers in the whole table, rows whose label is their own.
    """

    X: Any
    y: Any
    codes: Any
    numbers: Any
    known: Any


class DaskParts:
    """Parts that live on workers.

    Parameters
    ----------
    client : Client
    futures : list of Future
        One part each.
    load : Load
        What the table puts on the cluster.
    """

    def __init__(
        self, client: "Client", futures: "list[Future[Any]]", load: Load = NO_LOAD
    ) -> None:
        self.client = client
        self.futures = futures
        self.load = load
        self._token = uuid4().hex[:8]

    def map(self, function: Callable[..., Answer], *arguments: object, name: str) -> list[Answer]:
        """Ask every part; `name` is what the dashboard shows."""
        asked: list[Future[Any]] = []
        with told_of_lost_scheduler(self.client, asked, self.load):
            asked += self.client.map(
                _ask,
                self.futures,
                key=[f"{name}-{self._token}-{k}" for k in range(len(self.futures))],
                pure=False,
                function=function,
                arguments=arguments,
            )
            _wait(self.client, asked, self.load)
            answers: list[Answer] = self.client.gather(asked)
        return answers


def _wait(client: "Client", asked: "list[Future[Any]]", load: Load) -> None:
    """Wait for answers; give up where no worker is left that could give them."""
    from distributed import wait

    while True:
        try:
            with client.as_current():
                wait(asked, timeout=READ.seconds_paused)
        except TimeoutError:
            check_running(client, load)
        else:
            return


def _ask(part: Any, function: Callable[..., Answer], arguments: tuple[object, ...]) -> Answer:
    return function(part, *arguments)


def is_dask(value: Any) -> bool:
    """Whether a value is a Dask collection; this does not load Dask."""
    return type(value).__module__.partition(".")[0] == "dask"


def compute_together(*collections: Any) -> tuple[Any, ...]:
    """Bring collections into this process; what is none stays as it is."""
    from dask.base import compute

    return tuple(compute(*collections))


@contextmanager
def connected(scheduler: str | None, n_threads: int) -> Iterator["Client"]:
    """A client of `scheduler`, or the one in use, or one of threads in this process."""
    if scheduler is not None:
        check_scheduler(scheduler)
    try:
        from distributed import Client, LocalCluster, get_client
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'Dask is missing; install it with: pip install "unshuffle[dask]"', name=error.name
        ) from error
    if scheduler is not None:
        try:
            client = Client(scheduler, set_as_default=False, timeout=READ.seconds_to_connect)
        except (OSError, ValueError) as error:
            raise SchedulerLostError(
                f"no scheduler answers at {scheduler} ({type(error).__name__}); start one with "
                "`dask scheduler` and give the address that it prints"
            ) from error
        with client:
            yield client
        return
    try:
        client = get_client()
    except ValueError:
        with (
            LocalCluster(
                n_workers=1, threads_per_worker=n_threads, processes=False, dashboard_address=":0"
            ) as cluster,
            Client(cluster, set_as_default=False) as client,
        ):
            yield client
    else:
        yield client


@contextmanager
def told_of_lost_scheduler(
    client: "Client", asked: "list[Future[Any]]", load: Load
) -> Iterator[None]:
    """Say what happened where Dask only says that something was cancelled.

    Errors of what was `asked` are the workers' own and pass as they are.
    """
    from concurrent.futures import CancelledError

    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    try:
        yield
    except (SchedulerLostError, WorkerLostError):
        raise
    except KilledWorker as error:
        raise killed(client, load) from error
    except RuntimeError as error:
        if SHUFFLE not in str(error).lower() and SHUFFLE not in type(error).__name__.lower():
            raise
        raise killed(client, load) from error  # a worker was lost in the middle of the shuffle
    except (CancelledError, CommClosedError, TimeoutError, OSError) as error:
        if any(future.status == "error" for future in asked):
            raise
        address = client.scheduler.address if client.scheduler else "?"
        raise SchedulerLostError(
            f"the scheduler at {address} went away, or dropped the fit; with a checkpoint, start "
            "it again and resume"
        ) from error


def table_of(X: Any, y: Any, groups: Any, known: Any) -> tuple[Any, list[Any]]:
    """One data frame of all that was handed to ``fit``, and the names of the features."""
    import dask.array as da
    import dask.dataframe as dd

    beside = {LABEL: y, GROUP: groups, KNOWN: known}
    beside = {name: value for name, value in beside.items() if value is not None}
    if isinstance(X, da.Array):
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, got shape {X.shape}")
        if any(np.isnan(size) for size in X.shape):
            X = X.compute_chunk_sizes()
        X = X.rechunk({1: -1})
        features: list[Any] = list(range(X.shape[1]))
        frame = dd.from_dask_array(X, columns=features)
        for name, value in beside.items():
            column = value.values if isinstance(value, dd.Series) else value
            if not isinstance(column, da.Array):
                column = da.from_array(np.asarray(column), chunks=X.chunks[0])
            if any(np.isnan(size) for size in column.shape):
                column = column.compute_chunk_sizes()
            if column.shape != (X.shape[0],):
                raise ValueError(
                    f"X has {X.shape[0]} rows, but there is a column of shape {column.shape}; "
                    "there must be one label (and one group) for each row"
                )
            frame[name] = dd.from_dask_array(column.rechunk((X.chunks[0],)))
        return frame, features
    features = list(X.columns)
    for name, value in beside.items():
        if not isinstance(value, dd.Series):
            raise ValueError(
                f"X is a Dask data frame, but there is a {type(value).__name__} beside it; give "
                "labels and groups as columns of the same data frame"
            )
        X = X.assign(**{name: value})
    return X, features


def partition_sizes(X: Any) -> list[int]:
    """Rows of each partition of a Dask collection; they are counted where need be."""
    if hasattr(X, "columns"):
        return [int(size) for size in X.map_partitions(len).compute()]
    if any(np.isnan(size) for size in X.shape):
        X.compute_chunk_sizes()  # in place
    return [int(size) for size in X.chunks[0]]


def n_columns(X: Any) -> int:
    """Columns of a Dask collection."""
    if hasattr(X, "columns"):
        return len(X.columns)
    return int(X.shape[1]) if X.ndim > 1 else 1


def partition_numbers(X: Any) -> Any:
    """For each row of a Dask collection the number of its partition: groups that nothing moves."""
    if not hasattr(X, "columns"):
        import dask.array as da

        sizes = partition_sizes(X)
        numbers = np.repeat(np.arange(len(sizes)), sizes)
        return da.from_array(numbers, chunks=(tuple(sizes),))
    return X.map_partitions(_partition_number, meta=("number", np.int64))


def _partition_number(frame: Any, partition_info: Any = None) -> Any:
    number = 0 if partition_info is None else partition_info["number"]
    return frame.iloc[:, 0].notna().astype("int64") * 0 + number


def number_rows(frame: Any, sizes: list[int]) -> Any:
    """Add the number of each row in the whole table."""
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    meta = frame._meta.assign(**{NUMBER: np.empty(0, dtype=np.int64)})
    return frame.map_partitions(_number, offsets, meta=meta)


def _number(frame: Any, offsets: Any, partition_info: Any = None) -> Any:
    first = offsets[partition_info["number"]]
    return frame.assign(**{NUMBER: np.arange(first, first + len(frame))})


def frame_from_files(read: Callable[[Any], Any], chunks: list[Any], meta: Any) -> Any:
    """A data frame whose partitions are what `read` makes of each of the `chunks`."""
    import dask.dataframe as dd

    return dd.from_map(read, chunks, meta=meta)


def bring_groups_together(
    client: "Client", frame: Any, features: list[Any], n_rows: int, make: Callable[[Piece], Any]
) -> DaskParts:
    """Shuffle the rows of a numbered table so that groups are whole, and make a part of each piece.

    Without groups every row may exchange labels with every other, so that there is one part.
    """
    from dask.delayed import delayed

    check_numeric(frame, features)
    n_parts = frame.npartitions if GROUP in frame.columns else 1
    load = Load(n_rows, len(features), n_parts)
    with told_of_lost_scheduler(client, [], load):
        check_memory(client, load)
        try:
            client.wait_for_workers(1, timeout=READ.seconds_to_wait)
        except TimeoutError as error:
            raise SchedulerLostError(
                f"the scheduler has no workers after {READ.seconds_to_wait:g} s; start some with "
                "`dask worker`"
            ) from error
        check_memory(client, load)  # of those that came meanwhile
        columns = [f"__x{j}__" for j in range(len(features))]  # a shuffle wants text
        frame = frame.rename(columns=dict(zip(features, columns, strict=True)))
        if GROUP in frame.columns:
            frame = frame.shuffle(on=GROUP, shuffle_method=SHUFFLE)
        else:
            frame = frame.repartition(npartitions=1)
        build, token = delayed(_make, pure=False), uuid4().hex[:8]
        pieces = [
            build(piece, columns, make, dask_key_name=f"part-{token}-{k}")
            for k, piece in enumerate(frame.to_delayed())
        ]
        return DaskParts(client, client.compute(pieces), load)


def check_numeric(frame: Any, features: list[Any]) -> None:
    """Features and label must be numbers."""
    for name in (*features, LABEL):
        kind = frame.dtypes[name]
        if getattr(kind, "kind", "O") not in "iufb":
            shown = "the label" if name == LABEL else f"column {name!r}"
            raise ValueError(f"{shown} has type {kind}, which is not a number; encode it first")


def _make(frame: Any, features: list[Any], make: Callable[[Piece], Any]) -> Any:
    n = len(frame)
    codes = np.zeros(n, dtype=np.int64)
    if GROUP in frame.columns:
        codes = np.asarray(frame[GROUP].factorize()[0], dtype=np.int64)
        if n and codes.min() < 0:
            row = int(frame[NUMBER].to_numpy()[np.argmin(codes)])
            raise ValueError(
                f"the group of row {row} is missing; every row needs a group: drop such rows or "
                "give them a group of their own"
            )
    narrow = all(frame.dtypes[name] == np.float32 for name in features)
    X = frame[features].to_numpy(dtype=np.float32 if narrow else np.float64, na_value=np.nan)
    return make(
        Piece(
            np.ascontiguousarray(X),
            frame[LABEL].to_numpy(dtype=np.float64, na_value=np.nan),
            codes,
            frame[NUMBER].to_numpy(),
            frame[KNOWN].to_numpy(dtype=bool) if KNOWN in frame.columns else np.zeros(n, bool),
        )
    )
