"""What passes between the two halves of EM."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from ..problem import FloatArray, IntArray


class State(NamedTuple):
    """What the next alignment needs.

    Attributes
    ----------
    coef : array of shape (d,)
    intercept : float
    fitted : array of shape (n,)
        ``intercept + X coef``.
    noise_scale : float
        Standard deviation of the noise.
    objective : float
        Expected sum of squares ``E‖y[perm] - fitted‖²`` under the last alignment.
    labels : array of shape (n,)
        The label values that the next alignment permutes.
    perm : array of shape (n,)
        Row i holds ``labels[perm[i]]``.
    """

    coef: FloatArray
    intercept: float
    fitted: FloatArray
    noise_scale: float
    objective: float
    labels: FloatArray
    perm: IntArray


class Alignment(NamedTuple):
    """Expected labels beside the rows, and what the noise needs.

    Attributes
    ----------
    expected : array of shape (n,)
        ``E[labels[perm]]``.
    spread : float
        ``E‖labels[perm]‖² - ‖expected‖²``: what the average hides.
    labels, perm : arrays of shape (n,)
        Where the next alignment starts from.
    acceptance_rate : float
        Share of proposals accepted; nan where nothing is proposed.
    """

    expected: FloatArray
    spread: float
    labels: FloatArray
    perm: IntArray
    acceptance_rate: float


Align: TypeAlias = Callable[[State, int], Alignment]
