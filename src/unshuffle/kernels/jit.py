"""How every kernel is compiled: cached on disk, and free of the interpreter lock."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile `function` on its first call.

    No ``parallel=True`` and no ``fastmath``: threads come from `unshuffle.data.threads`, which
    keeps a fit interruptible, and strict floating point keeps compiled and plain Python results
    equal to the last bit.
    """
    compiled = numba.njit(cache=True, nogil=True)(function)
    _forgive_old_caches(compiled)
    return cast(Function, compiled)


def _forgive_old_caches(compiled: Any) -> None:
    """Compile anew where the cached index was written by another version.

    An upgrade leaves the caches of the version before in place. Their index names the types of
    arguments, and Numba fails where such a type no longer exists instead of compiling again.
    """
    index: Any = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    load = getattr(index, "_load_index", None)
    if load is None:
        return

    def load_or_start_anew() -> dict[Any, Any]:
        try:
            return dict(load())
        except (AttributeError, ImportError, EOFError, ValueError, TypeError):
            return {}

    index._load_index = load_or_start_anew


def is_cached(compiled: Any) -> bool:
    """Whether compiled code of a kernel is on disk, so that its first call only loads it."""
    index: Any = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    path = getattr(index, "_index_path", None)
    return path is None or Path(path).exists()
