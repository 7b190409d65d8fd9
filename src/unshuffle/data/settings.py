"""Numbers of reading data, and why they have their values."""

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
