"""How every kernel is compiled: cached on disk, and free of the interpreter lock."""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile `function` on its first call.

    No ``parallel=True`` and no ``fastmath``: threads come from `unshuffle.engine`, which keeps
    a fit interruptible, and strict floating point keeps compiled and plain Python results equal
    to the last bit.
    """
    return cast(Function, numba.njit(cache=True, nogil=True)(function))
