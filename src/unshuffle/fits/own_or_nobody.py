"""A fit that assumes that a label is the one of the row beside it, or nobody's.

Labels are given beside rows, some may be missing, and some may belong to no row of the table. Then
labels are independent of each other, and EM needs no chain: label i is its row's own with
probability

    p_i = π N(y_i; b + x_i w, s²) / (π N(y_i; b + x_i w, s²) + (1 - π) f(y_i)),

where f is tied to the model (`kernels.tied_density`).
"""

import math
from typing import NamedTuple

import numpy as np

from ..alignment.partial import spread_inside
from ..em.information import complete_covariance
from ..em.partial import coefficient_covariance, coordinates_of_rows
from ..families.least_squares import LeastSquares
from ..families.normal import NORMAL
from ..inference import checks, order_checks
from ..inference.intervals import Estimates
from ..inference.unequal_checks import match_share, pairs_per_coefficient
from ..inference.verdict import Verdict, judge
from ..kernels.swap import Schedule
from ..kernels.tied_density import log_tied_densities
from ..kernels.types import BoolArray, FloatArray, IntArray
from ..search.robust import fit_mixture
from .auto_results import AutoFit
from .results import Design, Errors, Iterations, Matches, StochasticFit, Uncertainty
from .results import standard_errors_of as errors_of
from .unequal_results import UnmatchedFit

NAN = float("nan")
SETTLED = 1e-10  # change of the log likelihood per label that ends the iterations


class OwnOrNobody(NamedTuple):
    """Labels beside rows.

    Attributes
    ----------
    X : array of shape (n, d)
    y : array of shape (n,)
        nan where the label is missing.
    codes : array of shape (n,)
        Number of the group of each row.
    known : array of shape (n,)
        True where the label is surely the row's own.
    order_p_value : float
        Of the test whether the order given carries information.
    """

    X: FloatArray
    y: FloatArray
    codes: IntArray
    known: BoolArray
    order_p_value: float


class _Point(NamedTuple):
    """Parameters, and what they make of each label given."""

    fitted: FloatArray
    noise_scale: float
    share: float
    own: FloatArray
    log_likelihood: float


def fit_own_or_nobody(
    data: OwnOrNobody,
    bounds: tuple[float, float],
    *,
    fit_intercept: bool,
    max_iter: int = 500,
) -> AutoFit:
    """Fit labels that are the row's own or nobody's.

    Parameters
    ----------
    data : OwnOrNobody
    bounds : (float, float)
        Of the share of rows that have their own label.
    fit_intercept : bool
    max_iter : int

    Returns
    -------
    fit : AutoFit
        With `unmatched`.
    """
    given = np.flatnonzero(np.isfinite(data.y))
    # Group by group, as densities need them.
    given = given[np.argsort(data.codes[given], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(np.unique(data.codes[given], return_counts=True)[1])])
    solver = LeastSquares(data.X[given], fit_intercept=fit_intercept)
    # Shares are of all rows; among the labels given they are higher.
    low, high = (min(bound * len(data.y) / len(given), 1.0) for bound in bounds)
    climb = _Climb(solver, data.y[given], data.known[given], starts.astype(np.int64), (low, high))
    point, objectives, converged = climb.run(max_iter)
    fit, share_se = _assemble(data, given, climb, point, objectives, converged)
    unmatched = _unmatched(data, given, point, share_se, bounds)
    return AutoFit(
        fit=fit,
        pairing="mostly-right",
        order_p_value=data.order_p_value,
        start="labels as given",
        search=None,
        refit_distances=np.empty(0),
        temper_shift=NAN,
        shrinkage_share=NAN,
        objective=float(objectives[-1]),
        mismatch=None,
        verdict=_judge(data, fit, unmatched),
        unmatched=unmatched,
    )


class _Climb:
    """EM from the mixture whose density of strangers is that of all labels."""

    def __init__(
        self,
        solver: LeastSquares,
        y: FloatArray,
        known: BoolArray,
        starts: IntArray,
        bounds: tuple[float, float],
    ) -> None:
        self.solver, self.known, self.starts, self.bounds = solver, known, starts, bounds
        self.centre = float(y.mean()) if solver.fit_intercept else 0.0
        self.y = y - self.centre
        self.Z = coordinates_of_rows(solver.X, solver)
        # Densities are computed for ascending labels of each group.
        group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        self.order = np.lexsort((self.y, group))

    def run(self, max_iter: int) -> tuple[_Point, FloatArray, bool]:
        """Parameters, the sum of squares after each iteration, and whether it converged."""
        low, high = self.bounds
        rate = 1.0 - high if low == high else None
        mixture = fit_mixture(self.solver, self.y, mismatch_rate=rate, known=self.known)
        fitted = self.solver.predict(mixture.coef, mixture.intercept)
        share = min(max(1.0 - mixture.mismatch_rate, low), high)
        point = self._point(fitted, mixture.noise_scale, share)
        objectives = []
        for _ in range(max_iter):
            before, point = point, self._step(point)
            residual = self.y - point.fitted
            objectives.append(float(point.own @ residual**2))
            if abs(point.log_likelihood - before.log_likelihood) <= SETTLED * len(self.y):
                return point, np.array(objectives), True
        return point, np.array(objectives), False

    def _step(self, point: _Point) -> _Point:
        own, y = point.own, self.y
        gram = (self.Z * own[:, None]).T @ self.Z
        theta = np.linalg.lstsq(gram, self.Z.T @ (own * y), rcond=1e-12)[0]
        fitted = self.Z @ theta
        n_own = float(own.sum())
        freedom = max(n_own - self.solver.n_parameters, 1.0)
        noise = math.sqrt(float(own @ (y - fitted) ** 2) / freedom)
        n_open = max(int(np.sum(~self.known)), 1)
        share = (n_own - float(np.sum(self.known))) / n_open
        return self._point(fitted, noise, min(max(share, self.bounds[0]), self.bounds[1]))

    def _point(self, fitted: FloatArray, noise: float, share: float) -> _Point:
        noise = max(noise, 1e-10 * float(self.y.std()))
        log_own = -0.5 * ((self.y - fitted) / noise) ** 2 - math.log(
            noise * math.sqrt(2.0 * math.pi)
        )
        if share >= 1.0:
            return _Point(fitted, noise, share, np.ones(len(self.y)), float(log_own.sum()))
        ascending = np.empty(len(self.y))
        log_tied_densities(
            fitted, self.y[self.order], self.starts, self.starts, noise,
            spread_inside(fitted, self.starts), ascending,
        )  # fmt: skip
        strange = np.empty(len(self.y))
        strange[self.order] = ascending
        log_own = log_own + math.log(max(share, 1e-300))
        strange += math.log1p(-share)
        total = np.where(self.known, log_own, np.logaddexp(log_own, strange))
        own = np.where(self.known, 1.0, np.exp(log_own - total))
        return _Point(fitted, noise, share, own, float(total.sum()))

    def covariance(self, point: _Point, *, estimated: bool) -> tuple[FloatArray, float, float]:
        """Louis' formula: of the coordinates, and variances of log noise and logit share."""
        own, p = point.own, self.Z.shape[1]
        residual = (self.y - point.fitted) / point.noise_scale
        score = np.column_stack(
            [self.Z * (residual / point.noise_scale)[:, None], residual**2 - 1.0, np.ones(len(own))]
        )
        complete = np.zeros((p + 2, p + 2))
        complete[:p, :p] = (self.Z * own[:, None]).T @ self.Z / point.noise_scale**2
        complete[p, p] = 2.0 * float(own.sum())
        n_open = float(np.sum(~self.known))
        complete[p + 1, p + 1] = n_open * point.share * (1.0 - point.share)
        missing = (score * (own * (1.0 - own))[:, None]).T @ score
        size = p + 2 if estimated and complete[p + 1, p + 1] > 0.5 else p + 1
        inverse: FloatArray = np.asarray(
            np.linalg.pinv((complete - missing)[:size, :size], hermitian=True), dtype=np.float64
        )
        logit = float(inverse[p + 1, p + 1]) if size == p + 2 else NAN
        return inverse[:p, :p], float(inverse[p, p]), logit


def _least_kept(known: FloatArray, found: FloatArray) -> float:
    """Smallest ratio of variances with every own label known; zero where one has no variance."""
    positive = found > 0.0
    if not positive.all():
        return 0.0
    with np.errstate(over="ignore"):
        return float(np.min(known / found, initial=np.inf))


def _assemble(
    data: OwnOrNobody,
    given: IntArray,
    climb: _Climb,
    point: _Point,
    objectives: FloatArray,
    converged: bool,
) -> tuple[StochasticFit, float]:
    solver = climb.solver
    solution = solver.solve(point.fitted)
    theta, log_noise, logit = climb.covariance(point, estimated=climb.bounds[0] < climb.bounds[1])
    coef = coefficient_covariance(solver, theta, len(given))
    freedom = max(round(float(point.own.sum())) - solver.n_parameters, 1)
    known = np.linalg.inv((climb.Z * point.own[:, None]).T @ climb.Z) * point.noise_scale**2
    uncertainty = Uncertainty(
        coef,
        errors_of(coef),
        point.noise_scale * max(log_noise, 0.0) ** 0.5,
        NAN,
        _least_kept(np.diag(known), np.diag(theta)),
        float(np.sqrt(max(np.trace(theta), 0.0) / np.trace(known))),
    )
    n, share = len(data.y), point.share
    fitted = data.X @ solution.coef + solution.intercept + climb.centre
    expected, own = fitted.copy(), np.zeros(n)
    expected[given] += point.own * (data.y[given] - fitted[given])
    own[given] = point.own
    perm = np.where(own > 0.5, np.arange(n), -1)
    fit = StochasticFit(
        coef=solution.coef,
        intercept=solution.intercept + climb.centre,
        noise_scale=point.noise_scale,
        mismatch_rate=None,
        design=Design(
            n,
            int(data.codes.max()) + 1,
            solver.rank,
            solver.dependent,
            freedom,
            solver.fit_intercept,
        ),
        iterations=Iterations(converged, objectives, np.tile(solution.coef, (len(objectives), 1))),
        acceptance_rate=None,
        tol=SETTLED,
        schedule=Schedule(0, 0, 1),
        temper=1.0,
        ridge=0.0,
        matches=Matches(expected, perm, own),
        uncertainty=uncertainty,
        permutations=None,
        as_given=_as_given(climb),
        errors=Errors("model", uncertainty, freedom),
    )
    return fit, share * (1.0 - share) * max(logit, 0.0) ** 0.5


class _Counts(NamedTuple):
    n_rows: int
    n_movable: int = 0


def _as_given(climb: _Climb) -> Estimates:
    """Least squares on the labels given."""
    solver = climb.solver
    found = solver.solve(climb.y)
    freedom = max(len(climb.y) - solver.n_parameters, 1)
    noise = NORMAL.noise_scale(found.residual_ss, freedom, float(climb.y.std()) or 1.0)
    covariance = complete_covariance(_Counts(len(climb.y)), solver, noise).coef
    first = 0 if solver.fit_intercept else 1
    values = np.append(found.intercept + climb.centre, found.coef)
    return Estimates(values[first:], errors_of(covariance)[first:], freedom)


def _unmatched(
    data: OwnOrNobody,
    given: IntArray,
    point: _Point,
    share_se: float,
    bounds: tuple[float, float],
) -> UnmatchedFit:
    n = len(data.y)
    nobody = np.ones(n)
    nobody[given] = 1.0 - point.own
    return UnmatchedFit(
        n_rows=n,
        n_labels=len(given),
        rows_left_out=0,
        labels_left_out=0,
        n_pairs=float(point.own.sum()),
        match_share=point.share * len(given) / n,
        match_share_se=share_se * len(given) / n,
        estimated=bounds[0] < bounds[1],
        row_proba=nobody,
        label_proba=np.where(np.isfinite(data.y), nobody, NAN),
        seen=np.empty((0, n), dtype=np.int64),
        row_groups=data.codes,
        label_groups=np.where(np.isfinite(data.y), data.codes, -1),
    )


def _judge(data: OwnOrNobody, fit: StochasticFit, unmatched: UnmatchedFit) -> Verdict:
    assert fit.uncertainty is not None
    n_coefficients = fit.design.rank + fit.design.fit_intercept
    reasons = [
        checks.rank(fit.design.rank, len(fit.coef)),
        checks.convergence(fit.iterations.converged),
        None if math.isnan(data.order_p_value) else order_checks.order(data.order_p_value),
        pairs_per_coefficient(unmatched.n_pairs, n_coefficients),
        match_share(unmatched.match_share, unmatched.match_share_se),
        checks.precision(fit.uncertainty.inflation, fit.uncertainty.fraction_kept, order_used=True),
    ]
    return judge([reason for reason in reasons if reason is not None])
