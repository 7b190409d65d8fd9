"""Robust starts for pairings that are mostly right: Huber, then a two-component mixture.

A label is the row's own (normal around the fit) with probability ``1 - α``, or some other row's
(drawn from the labels at large, density f) with probability α:

``p(y_i) = (1 - α_i) N(y_i; b + x_i w, s²) + α_i f(y_i)``.
"""

from typing import NamedTuple

import numpy as np

from ..alignment.density import kernel_density
from ..families.least_squares import LeastSquares
from ..families.match_logit import MatchLogit
from ..kernels.types import BoolArray, FloatArray
from .settings import DEFAULT, MixtureSettings

NO_CLUES: FloatArray = np.empty(0)
MEDIAN_OF_NORMAL = 0.6745  # of the size of normal noise, in standard deviations


class Mixture(NamedTuple):
    """A fitted mixture.

    Attributes
    ----------
    coef : array of shape (d,)
    intercept : float
    noise_scale : float
    mismatch_rate : float
    match_proba : array of shape (n,)
        Posterior probability that each label is the row's own.
    log_likelihood : float
        Mean log density of the labels.
    n_iter : int
    converged : bool
    clue_coef : array of shape (1 + q,)
        Coefficients of the model of mismatches; empty where there is none.
    """

    coef: FloatArray
    intercept: float
    noise_scale: float
    mismatch_rate: float
    match_proba: FloatArray
    log_likelihood: float
    n_iter: int
    converged: bool
    clue_coef: FloatArray = NO_CLUES


class WeightedFit:
    """Weighted least squares of labels, from sums over blocks of X: no copy of it is made.

    Where X is ill-conditioned, blocks are brought into orthonormal coordinates first.
    """

    def __init__(
        self, solver: LeastSquares, y: FloatArray, settings: MixtureSettings = DEFAULT.mixture
    ) -> None:
        self.solver, self.y, self.settings = solver, y, settings
        plain = solver.well_conditioned
        self._lead = None if plain else solver.to_coef
        self._offset = solver.offset if plain else solver.centre

    def fit(self, weights: FloatArray | None = None) -> FloatArray:
        """Fitted values of the weighted least squares fit; all weights are equal by default."""
        solver, y = self.solver, self.y
        if weights is None:
            weights = np.ones(len(y))
        size = len(solver.centre) if self._lead is None else solver.rank
        gram, moment = np.zeros((1 + size, 1 + size)), np.zeros(1 + size)
        gram[0, 0], moment[0] = weights.sum(), weights @ y
        for first in range(0, len(y), self.settings.rows_per_block):
            rows = slice(first, first + self.settings.rows_per_block)
            block = solver.X[rows] if self._offset is None else solver.X[rows] - self._offset
            if self._lead is not None:
                block = block @ self._lead
            weighted = block * weights[rows, None]
            gram[1:, 1:] += weighted.T @ block
            gram[0, 1:] += weights[rows] @ block
            moment[1:] += y[rows] @ weighted
        gram[1:, 0] = gram[0, 1:]
        first = 0 if solver.fit_intercept else 1
        theta = _solve(gram[first:, first:], moment[first:])
        coef = theta[1 - first :]
        if self._lead is not None:
            coef = self._lead @ coef
        intercept = float(theta[0]) if solver.fit_intercept else 0.0
        if self._offset is not None:
            intercept -= float(self._offset @ coef)
        return solver.predict(coef, intercept)


def _solve(gram: FloatArray, moment: FloatArray) -> FloatArray:
    """Normal equations in units of the columns' lengths, so that rank does not depend on units."""
    length = np.sqrt(np.diag(gram))
    length = np.where(length > 0.0, length, 1.0)
    theta = np.linalg.lstsq(gram / np.outer(length, length), moment / length, rcond=None)[0]
    return np.asarray(theta / length, dtype=np.float64)


def fit_mixture(
    solver: LeastSquares,
    y: FloatArray,
    *,
    mismatch_rate: float | None = None,
    match_prob: FloatArray | None = None,
    known: BoolArray | None = None,
    max_iter: int = 500,
    tol: float = 1e-8,
    settings: MixtureSettings = DEFAULT.mixture,
    clues: MatchLogit | None = None,
    density: FloatArray | None = None,
) -> Mixture:
    """Fit the mixture by EM from two starts, OLS and Huber; the higher likelihood wins.

    Large data start from the fit to a sample of the rows.

    A given `mismatch_rate` or `match_prob` (per row) stays as it is; otherwise the rate is
    estimated from the rows that are not `known` to hold their own label. With `clues` the
    probability of each row is logistic in them, and is estimated along. The `density` of the labels
    at large, at each of the labels, is estimated by kernels if it is left out.
    """
    if known is None:
        known = np.zeros(len(y), dtype=np.bool_)
    starts = []
    if len(y) > settings.many_rows:
        few = slice(None, None, -(-len(y) // settings.many_rows))
        sample = fit_mixture(
            LeastSquares(solver.X[few], fit_intercept=solver.fit_intercept),
            y[few],
            mismatch_rate=mismatch_rate,
            match_prob=None if match_prob is None else match_prob[few],
            known=known[few],
            max_iter=max_iter,
            tol=tol,
            settings=settings,
            clues=None if clues is None else clues.take(few),
            density=None if density is None else density[few],
        )
        starts = [solver.predict(sample.coef, sample.intercept)]
    weighted = WeightedFit(solver, y, settings)
    density = kernel_density(y) if density is None else density
    if not starts:
        ordinary = weighted.fit()
        starts = [ordinary, huber(weighted, ordinary)]
    ends = [
        _climb(weighted, density, start, mismatch_rate, match_prob, known, max_iter, tol, clues)
        for start in starts
    ]
    fitted, best = max(ends, key=lambda end: end[1].log_likelihood)
    # The fitted values lie in the span of X, so their least squares fit gives them back.
    solution = solver.solve(fitted)
    return best._replace(coef=solution.coef, intercept=solution.intercept)


def huber(weighted: WeightedFit, fitted: FloatArray) -> FloatArray:
    """Fitted values of Huber's regression, by reweighting with the residuals' median scale."""
    settings = weighted.settings
    for _ in range(settings.huber_steps):
        size = np.abs(weighted.y - fitted)
        scale = median_scale(size)
        if scale == 0.0:
            break
        limit = settings.huber_threshold * scale
        before = fitted
        fitted = weighted.fit(limit / np.maximum(size, limit))
        if np.max(np.abs(fitted - before)) < settings.huber_tolerance * scale:
            break
    return fitted


def median_scale(size: FloatArray) -> float:
    """Standard deviation of normal noise from the median size of the residuals."""
    return float(np.median(size)) / MEDIAN_OF_NORMAL


def _climb(
    weighted: WeightedFit,
    density: FloatArray,
    fitted: FloatArray,
    rate: float | None,
    match_prob: FloatArray | None,
    known: BoolArray,
    max_iter: int,
    tol: float,
    clues: MatchLogit | None = None,
) -> tuple[FloatArray, Mixture]:
    y, n_open = weighted.y, max(int(np.sum(~known)), 1)
    unit = float(y.std()) or 1.0
    floor = weighted.settings.smallest_noise * unit
    smallest_density = weighted.settings.smallest_density / unit
    scale = max(median_scale(np.abs(y - fitted)), floor)
    share = 0.5 if rate is None else rate
    clue_coef = NO_CLUES
    if clues is not None:
        clue_coef = clues.start()
        match_prob = clues.probabilities(clue_coef)
    before, converged, n_iter = -np.inf, False, 0
    while not converged and n_iter < max_iter:
        n_iter += 1
        mismatched = np.where(known, 0.0, share if match_prob is None else 1.0 - match_prob)
        own = (1.0 - mismatched) * np.exp(-0.5 * ((y - fitted) / scale) ** 2)
        own /= scale * np.sqrt(2.0 * np.pi)
        total = own + mismatched * density
        # Far outliers of a surely matched row underflow both terms.
        total = np.maximum(total, smallest_density)
        posterior = np.where(known, 1.0, own / total)
        level = float(np.mean(np.log(total)))
        # The density of standardised labels: units must not decide when to stop.
        converged = level - before <= tol * (1.0 + abs(level + np.log(unit)))
        before = level
        fitted = weighted.fit(posterior)
        weight = float(posterior.sum())
        residual = y - fitted
        scale = max(float(np.sqrt((posterior * residual**2).sum() / max(weight, 1e-300))), floor)
        if rate is None:
            share = min(max((len(y) - weight) / n_open, 1e-6), 1.0 - 1e-6)
        if clues is not None:
            clue_coef = clues.step(posterior, clue_coef)
            match_prob = clues.probabilities(clue_coef)
    seen = share if match_prob is None else float(np.sum(1.0 - posterior)) / n_open
    return fitted, Mixture(
        np.empty(0), 0.0, scale, seen, posterior, level, n_iter, bool(converged), clue_coef
    )
