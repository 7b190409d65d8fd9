"""Methods that fits of normal labels have, and fits of other families lack."""

from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import Any, TypeVar, cast

from ..fits.glm.results import FamilyFit

Method = TypeVar("Method", bound=Callable[..., object])


def only_normal(method: Method) -> Method:
    """Mark a method as one of fits of normal labels.

    As scikit-learn's `available_if`, so that `hasattr` is false after a fit of another family. The
    error names that family, which `available_if` leaves to the cause of its own error.
    """
    return cast(Method, _OnlyNormal(method))


class _OnlyNormal:
    def __init__(self, method: Callable[..., object]) -> None:
        self.method = method
        update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, model: Any, owner: Any = None) -> Any:
        if model is None:
            return self.method
        fit = vars(model).get("_found")
        if isinstance(fit, FamilyFit):
            raise AttributeError(
                f"a fit of family {fit.family!r} (or with weights or offsets) has no "
                f"{self.method.__name__}; conf_int and mismatch_rate_interval have intervals"
            )
        return MethodType(self.method, model)
