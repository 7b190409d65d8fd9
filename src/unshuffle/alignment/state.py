"""What passes between the two halves of EM."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from ..kernels.noise import NoiseLaw
from ..kernels.types import FloatArray, IntArray

NO_VALUES: FloatArray = np.empty(0)
NO_ROWS: IntArray = np.empty(0, dtype=np.int64)


class State(NamedTuple):
    """The parameters, and what an alignment in memory keeps per row.

    A fit in passes keeps nothing per row: `fitted`, `labels` and `perm` then have length 0.

    Attributes
    ----------
    coef : array of shape (d,)
    intercept : float
    noise_scale : float
        Standard deviation of the noise.
    objective : float
        Expected sum of squares ``E‖y[perm] - fitted‖²`` under the last alignment.
    mismatch_rate : float
        Fraction of mismatched rows that the prior assumes; nan for the uniform prior.
    fitted : array of shape (n,)
        ``intercept + X coef``.
    labels : array of shape (n,)
        The label values that the next alignment permutes.
    perm : array of shape (n,)
        Row i holds ``labels[perm[i]]``.
    match_proba : array of shape (n,) or None
        Probability that each row holds its own label; None where it was not computed.
    law : NoiseLaw or None
        Law of the noise; None for normal noise.
    """

    coef: FloatArray
    intercept: float
    noise_scale: float
    objective: float
    mismatch_rate: float = float("nan")
    fitted: FloatArray = NO_VALUES
    labels: FloatArray = NO_VALUES
    perm: IntArray = NO_ROWS
    match_proba: FloatArray | None = None
    law: NoiseLaw | None = None


class Alignment(NamedTuple):
    """Expected labels beside the rows, and what the noise needs.

    Attributes
    ----------
    expected : array of shape (n,)
        ``E[labels[perm]]``.
    spread : float
        ``E‖labels[perm]‖² - ‖expected‖²``: the variance of the labels around their mean.
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
