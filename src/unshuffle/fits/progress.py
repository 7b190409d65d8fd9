"""How a fit reports its progress."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple, TypeAlias

from ..kernels.types import FloatArray


class Progress(NamedTuple):
    """What a `callback` receives.

    Attributes
    ----------
    done, total : int
        Iterations (stochastic EM), starts (hard EM), candidates (search) or replicates (bootstrap)
        finished, and the most there can be.
    objective : float
        Expected sum of squares at this iteration, or lowest matched sum of squares so far; nan for
        the bootstrap.
    acceptance_rate : float
        Share of accepted proposals; nan for hard EM.
    coef : array of shape (n_features,) or None
        Coefficients after this iteration; None for hard EM.
    intercept, noise_scale : float
        The same of stochastic EM; nan otherwise.
    """

    done: int
    total: int
    objective: float = float("nan")
    acceptance_rate: float = float("nan")
    coef: FloatArray | None = None
    intercept: float = float("nan")
    noise_scale: float = float("nan")


Report: TypeAlias = Callable[[Progress], None]
# Opens a report of `total` pieces of work, counted in the unit named.
Reporting: TypeAlias = Callable[[int, str], AbstractContextManager[Report]]


def quiet(total: int, unit: str) -> AbstractContextManager[Report]:
    """Report nothing."""
    return nullcontext(_ignore)


def _ignore(progress: Progress) -> None:
    """Drop a report."""
