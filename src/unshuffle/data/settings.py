"""Numbers of reading data, and why they have their values."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ReadSettings:
    """How much is read, or worked on, at a time."""

    numbers_per_batch: int = 1 << 20  # 8 MB, which stay in a cache while they are dealt out
    # Of one call of a kernel, after which an interruption takes effect.
    visits_per_call: int = 1 << 22
    rows_per_call: int = 1 << 17
    seconds_to_wait: float = 60.0  # for the first worker of a cluster
    kept_bytes: int = 30_000_000  # below 32 MiB, the largest block that moves glibc's threshold


READ = ReadSettings()
