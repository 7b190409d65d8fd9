"""Numbers of reading and looking at data, and why they have their values."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ReadSettings:
    """How much is read, or worked on, at a time."""

    numbers_per_batch: int = 1 << 20  # 8 MB, which stay in a cache while they are dealt out
    # Of one call of a kernel, after which an interruption takes effect.
    visits_per_call: int = 1 << 22
    rows_per_call: int = 1 << 17
    seconds_to_connect: float = 2.5  # to a scheduler; one that is there answers at once
    seconds_to_wait: float = 60.0  # for the first worker of a cluster
    seconds_paused: float = 30.0  # of all workers, after which a fit gives up
    # Memory of a worker: for the libraries, for a row beside its numbers, for each byte of these
    # (in the shuffle, the table and what is made of it), and the share from which Dask pauses it.
    # Measured; somewhat less than that, so that no worker is refused that would do.
    worker_bytes: float = 350e6
    worker_row: float = 150.0
    worker_copies: float = 1.5
    worker_pause: float = 0.8
    kept_bytes: int = 30_000_000  # below 32 MiB, the largest block that moves glibc's threshold


READ = ReadSettings()


@dataclass(frozen=True)
class IsolatedSettings:
    """Which labels are far from all others; the page on trust names the first two numbers."""

    # Distance from the next label, as a multiple of the range of all others. At three, 5 of the 805
    # open real regressions have such labels, and of samples of 200 labels 0.4 % if they are of
    # Student's t with three degrees of freedom, 1 % if lognormal, and none if normal.
    gap: float = 3.0
    # Share of the labels at either end that can be isolated: more are a part of the distribution.
    largest_share: float = 0.05
    # Distinct values that the others must have: zeros beside a few counts are no errors.
    fewest_values: int = 20


ISOLATED = IsolatedSettings()
