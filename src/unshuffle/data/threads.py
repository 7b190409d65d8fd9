"""Threads over pieces of work that release the interpreter lock."""

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import Self, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from .settings import READ

Item = TypeVar("Item")
Answer = TypeVar("Answer")


class Workers:
    """A pool of `n_jobs` threads for the length of a fit; one thread means no pool.

    Pieces of work should take well under a second: an interruption is obeyed between them.
    Results never depend on `n_jobs`, because they come back in the order of the items. Inside the
    context the linear algebra library keeps to one thread: its own would wait, spinning, on the
    cores that the pool works on, and their number would change the rounding.
    """

    def __init__(self, n_jobs: int) -> None:
        self.n_jobs = n_jobs
        self._pool = ThreadPoolExecutor(n_jobs) if n_jobs > 1 else None

    def __enter__(self) -> Self:
        self._one_thread = threadpool_limits(1, user_api="blas")
        keep_freed_memory()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._one_thread.restore_original_limits()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def map(self, function: Callable[[Item], Answer], items: Iterable[Item]) -> list[Answer]:
        """Apply `function` to every item; answers in the order of the items."""
        if self._pool is None:
            return [function(item) for item in items]
        futures: list[Future[Answer]] = [self._pool.submit(function, item) for item in items]
        try:
            return [future.result() for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            raise


def keep_freed_memory() -> None:
    """Let the allocator keep freed memory for the next call instead of handing it back each time.

    Kernels take and free work space of some megabytes a call. glibc hands freed memory back to the
    system above a threshold, which rises to the size of the largest block that was freed; fresh
    pages then cost a mostly right fit of 100,000 rows a tenth of its time. One block that is freed
    without being touched raises the threshold; elsewhere it does nothing. A process that may not
    take so much does without.
    """
    with suppress(MemoryError):
        np.empty(READ.kept_bytes, dtype=np.uint8)
