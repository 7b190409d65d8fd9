"""What passes between the two halves of EM."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from ..kernels.types import FloatArray, IntArray


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
    match_proba : array of shape (n,) or None
        Probability that each row holds its own label; None where that was not asked.
    mismatch_rate : float
        Share of mismatched rows that the prior believes in; nan for the uniform prior.
    """

    coef: FloatArray
    intercept: float
    fitted: FloatArray
    noise_scale: float
    objective: float
    labels: FloatArray
    perm: IntArray
    match_proba: FloatArray | None = None
    mismatch_rate: float = float("nan")


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
    match_proba : array of shape (n,) or None
        Probability that each row holds its own label.
    mismatch_rate : float
        Rate of mismatches for the next alignment.
    """

    expected: FloatArray
    spread: float
    labels: FloatArray
    perm: IntArray
    acceptance_rate: float
    match_proba: FloatArray | None = None
    mismatch_rate: float = float("nan")


Align: TypeAlias = Callable[[State, int], Alignment]
