"""How much memory the workers of a cluster need, and whether they have it."""

from typing import Any, NamedTuple, Protocol

from ..exceptions import WorkerLostError
from .settings import READ, ReadSettings

ADVICE = "start the workers with more (dask worker --memory-limit), or start more of them"


class Client(Protocol):
    """What is asked of a client of Dask."""

    def scheduler_info(self) -> Any:
        """About the scheduler and its workers."""


class Load(NamedTuple):
    """What a table puts on a cluster.

    Attributes
    ----------
    n_rows, n_features : int
    n_parts : int
        Into which rows can be cut; one where any row may exchange labels with any other.
    """

    n_rows: int = 0
    n_features: int = 0
    n_parts: int = 1

    def needed(self, n_workers: int, settings: ReadSettings = READ) -> float:
        """Bytes that one worker needs; Dask pauses those that use more than a share of theirs."""
        n_numbers = self.n_features + 3  # the label, the group and the number of the row
        row = settings.worker_row + settings.worker_copies * 8 * n_numbers
        rows = self.n_rows / min(max(n_workers, 1), max(self.n_parts, 1))
        return (settings.worker_bytes + rows * row) / settings.worker_pause


def check_memory(client: Client, load: Load) -> None:
    """Refuse workers that would be paused or killed, and say what they need."""
    workers = _workers(client)
    limits = {name: about["memory_limit"] for name, about in workers.items()}
    bounded = {name: limit for name, limit in limits.items() if limit}
    needed = load.needed(len(workers))
    if not bounded or min(bounded.values()) >= needed:
        return
    name = min(bounded, key=lambda key: bounded[key])
    raise WorkerLostError(
        f"the worker at {name} may use {bounded[name] / 1e9:.2f} GB of memory, but this table "
        f"needs about {needed / 1e9:.2f} GB on each of {len(workers)} workers; {ADVICE}"
    )


def check_running(client: Client, load: Load) -> None:
    """Refuse to wait for workers that are all paused or gone."""
    workers = _workers(client)
    if any(about.get("status", "running") == "running" for about in workers.values()):
        return
    raise WorkerLostError(f"all workers are paused or gone: {_needs(load, len(workers))}")


def killed(client: Client, load: Load) -> WorkerLostError:
    """The error for workers that died one after the other."""
    n_workers = len(_workers(client))
    return WorkerLostError(
        f"several workers died while they held a part of the table: {_needs(load, n_workers)}"
    )


def _needs(load: Load, n_workers: int) -> str:
    needed = load.needed(n_workers) / 1e9
    return (
        f"it probably takes more memory than they may use; each needs about {needed:.2f} GB: "
        f"{ADVICE}; with a checkpoint, resume then"
    )


def _workers(client: Client) -> dict[str, Any]:
    found: dict[str, Any] = client.scheduler_info()["workers"]
    return found
