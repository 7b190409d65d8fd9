"""How likely are labels under a fit, for the pairing that is assumed of them?"""

from typing import Any, NamedTuple

import numpy as np

from ..data.problem import Problem
from ..data.threads import Workers
from ..families.normal import NORMAL
from ..inference.law_likelihood import label_densities
from ..inference.predictive import normal_log_density
from ..kernels.noise import NoiseLaw
from ..kernels.types import FloatArray
from .given import given_problem

SMALLEST_NOISE, LARGEST_NOISE = 1e-150, 1e150  # their squares neither vanish nor overflow
PAIRINGS = ("lost", "mostly-right", "known")


class LogDensityGain(NamedTuple):
    """Log density of labels under a fit, less that without features, per label.

    Attributes
    ----------
    gain : float
        In natural logarithms per label.
    error : float
        Monte Carlo standard error of `gain`; 0 where sums are exact.
    r2 : float
        The gain on the scale of R²: ``1 - exp(-2 gain)``.
    by_group : array of shape (n_groups,)
        Log density of each group of at least two rows, without anything subtracted.
    """

    gain: float
    error: float
    r2: float
    by_group: FloatArray


def log_density_gain(
    y: Any,
    predicted: Any,
    noise_scale: float,
    groups: Any = None,
    *,
    pairing: str = "lost",
    mismatch_rate: float = 0.0,
    random_state: int = 0,
    law: NoiseLaw | None = None,
) -> LogDensityGain:
    r"""Log predictive density of labels, less that of a normal which ignores the features.

    With `pairing` "lost" only the set of labels of each group is known. Its density is the mean
    over permutations

    .. math:: \frac{1}{m!} \sum_\pi \prod_i N(y_{\pi(i)}; \hat\mu_i, s^2),

    exact for groups of up to ten rows, by a chain at several temperatures for larger ones. With
    "mostly-right" each label is the row's own or, at the rate a, another row's of its group:

    .. math:: (1 - a) N(y_i; \hat\mu_i, s^2) + \frac{a}{m} \sum_j N(y_i; \hat\mu_j, s^2),

    and with "known" each is the row's own (a = 0). What is subtracted is the density under one
    normal with mean and variance of the labels.

    All are densities of the same labels, so fits can be compared that assume different things of
    the order; but a known order says more than a lost one, so scores can be compared only for the
    same `pairing`.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels.
    predicted : array-like of shape (n_samples,)
        Predictions for the rows.
    noise_scale : float
        Standard deviation of the noise, `noise_scale_` of a fit.
    groups : array-like of shape (n_samples,), optional
        Labels moved only inside their group; None means one group.
    pairing : {"lost", "mostly-right", "known"}, default="lost"
        What is assumed of the order of these labels.
    mismatch_rate : float, default=0.0
        Share of labels that are another row's, for "mostly-right".
    random_state : int, default=0
        Seed of the chains.
    law : NoiseLaw, optional
        Law of the noise in the place of a normal one, `noise_law_` of a fit, for "lost";
        `noise_scale` then has no part in the density.

    Returns
    -------
    found : LogDensityGain

    Examples
    --------
    >>> from unshuffle.metrics import log_density_gain
    >>> y, groups = [1.2, 0.1, 5.1, 3.9], [0, 0, 1, 1]
    >>> good = log_density_gain(y, [0.0, 1.0, 4.0, 5.0], 0.2, groups)
    >>> poor = log_density_gain(y, [2.0, 3.0, 2.0, 3.0], 2.0, groups)
    >>> good.gain > 0 > poor.gain
    True
    """
    if pairing not in PAIRINGS:
        raise ValueError(f"pairing must be one of {', '.join(PAIRINGS)}; got {pairing!r}")
    if not SMALLEST_NOISE <= noise_scale <= LARGEST_NOISE:
        raise ValueError(
            f"noise_scale must be a positive number from {SMALLEST_NOISE:g} to {LARGEST_NOISE:g}; "
            f"got {noise_scale!r}"
        )
    if law is not None and pairing != "lost":
        raise ValueError(f"a law of the noise is for pairing='lost'; got pairing={pairing!r}")
    if not 0.0 <= mismatch_rate <= 1.0:
        raise ValueError(f"mismatch_rate must lie between 0 and 1; got {mismatch_rate!r}")
    problem, fitted = given_problem(y, predicted, groups)
    null, error = normal_log_density(problem.y), 0.0
    if pairing == "lost":
        with Workers(1) as workers:
            found = label_densities(
                problem, fitted, float(noise_scale), law, seed=int(random_state), workers=workers
            )
        total, by_group, error = found.total, found.blocks, found.error
    else:
        rate = mismatch_rate if pairing == "mostly-right" else 0.0
        logs = _mixture_log_densities(problem, fitted, float(noise_scale), rate)
        n = problem.n_movable
        by_group = np.add.reduceat(logs[:n], problem.starts[:-1]) if n else np.empty(0)
        total = float(logs.sum())
    gain = (total - null) / problem.n_rows
    return LogDensityGain(gain, error / problem.n_rows, r2_of(gain), by_group)


def r2_of(gain: float) -> float:
    """A gain per label on the scale of R²: for normal labels in known order it is R²."""
    return float(-np.expm1(-2.0 * gain)) if gain > LOWEST_GAIN else float("-inf")


LOWEST_GAIN = -350.0  # below it the exponential overflows


def _mixture_log_densities(
    problem: Problem, fitted: FloatArray, noise_scale: float, rate: float
) -> FloatArray:
    """Log density of each label given beside its row."""
    own = NORMAL.log_density(problem.y, fitted, noise_scale)
    logs = own.copy()
    if rate > 0.0:
        for first, last in zip(problem.starts[:-1], problem.starts[1:], strict=True):
            rows = slice(int(first), int(last))
            others = _log_mean_density(problem.y[rows], fitted[rows], noise_scale)
            with np.errstate(divide="ignore"):
                matched = np.log1p(-rate) + own[rows]
            logs[rows] = np.logaddexp(matched, np.log(rate) + others)
    return np.asarray(logs - np.log(noise_scale * np.sqrt(2.0 * np.pi)))


def _log_mean_density(labels: FloatArray, fitted: FloatArray, noise_scale: float) -> FloatArray:
    """Log of the mean over rows of the density of each label, a part of the labels at a time."""
    found, step = np.empty(len(labels)), max(1, 2_000_000 // len(fitted))
    for first in range(0, len(labels), step):
        part = labels[first : first + step, None]
        logs = NORMAL.log_density(part, fitted, noise_scale)
        found[first : first + step] = np.logaddexp.reduce(logs, axis=1)
    return np.asarray(found - np.log(len(fitted)))
