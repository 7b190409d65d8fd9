"""How every kernel is compiled: cached on disk, and free of the interpreter lock."""

from collections.abc import Callable
from typing import Any, Literal, TypeVar, cast

import numba
import numpy as np

# Numba compiles a kernel once more for a literal 0 as an argument.
ZERO = cast(int, np.int64(0))
Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile `function` on its first call.

    No ``parallel=True`` and no ``fastmath``: threads come from `unshuffle.data.threads`, which
    keeps a fit interruptible, and strict floating point keeps compiled and plain Python results
    equal to the last bit.
    """
    return _compile(function, inline="never")


def inlined(function: Function) -> Function:
    """Make `function` part of the kernels that call it, as if it were written there.

    Numba optimises a kernel once by itself and once more inside each kernel above it. A small
    helper with few callers compiles in a fraction of the time as a part of them; calls from Python
    compile it as any other kernel.
    """
    return _compile(function, inline="always")


def _compile(function: Function, inline: Literal["never", "always"]) -> Function:
    # Nobody calls a kernel from C, and the entry for it takes a twentieth of the time to compile.
    njit = cast(Callable[..., Any], numba.njit)  # whose types leave this option out
    compiled = njit(cache=True, nogil=True, inline=inline, no_cfunc_wrapper=True)(function)
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
