"""Estimators for linked labels that need no law of the noise: closed forms, O(n d²)."""

from dataclasses import dataclass

import numpy as np

from ..families.least_squares import LeastSquares
from ..inference.intervals import Estimates
from ..inference.moments import Exchange, expected_features, instruments, meat
from ..inference.settings import MOMENTS
from ..kernels.types import FloatArray
from .results import Design, design_of, standard_errors_of


@dataclass(frozen=True, eq=False)
class MomentFit:
    """A fit by estimating equations.

    Attributes
    ----------
    coef : array of shape (d,)
    intercept, noise_scale : float
    mismatch_rate, mismatch_rate_se : float
        Share of rows that do not hold their own label, and what an audit leaves open of it.
    attenuation : float
        Smallest factor by which the exchange shrinks a direction of the coefficients.
    covariance : array of shape (k, k)
        The intercept first where there is one.
    freedom : int
    units : {"rows", "blocks"}
        Independent units of the standard errors.
    as_given : Estimates
        Least squares on the labels as given, with robust standard errors.
    design : Design
    """

    coef: FloatArray
    intercept: float
    noise_scale: float
    mismatch_rate: float
    mismatch_rate_se: float
    attenuation: float
    covariance: FloatArray
    freedom: int
    units: str
    as_given: Estimates
    design: Design

    @property
    def estimates(self) -> Estimates:
        """Coefficients with their standard errors; the intercept first where there is one."""
        first = [self.intercept] if self.design.fit_intercept else []
        errors = standard_errors_of(self.covariance)
        return Estimates(np.append(first, self.coef), errors, self.freedom)


def fit_moments(
    X: FloatArray, y: FloatArray, exchange: Exchange, method: str, *, fit_intercept: bool
) -> MomentFit:
    """Solve the estimating equations.

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of shape (n,)
        Labels as given.
    exchange : Exchange
    method : {"lahiri-larsen", "chambers", "ratio"}
    fit_intercept : bool

    Returns
    -------
    fit : MomentFit
    """
    solver = LeastSquares(X, fit_intercept=fit_intercept)
    n, first = len(y), int(fit_intercept)
    basis = (X - solver.centre) @ solver.to_coef
    W = expected_features(basis, exchange)
    Z = instruments(method, basis, W, exchange)
    middle = W.mean(axis=0) if fit_intercept else np.zeros(solver.rank)
    mean = float(y.mean()) if fit_intercept else 0.0
    W -= middle
    Z = Z - Z.mean(axis=0) if fit_intercept else Z
    products = Z.T @ W
    weakest = _smallest(products, method)
    theta = np.linalg.solve(products, Z.T @ (y - mean))
    theta += np.linalg.solve(products, Z.T @ (y - mean - W @ theta))  # rounding of the first
    coef = solver.to_coef @ theta
    residual, own = y - mean - W @ theta, basis @ theta
    if first:
        Z = np.column_stack([np.full(n, n**-0.5), Z])
    bread = np.zeros((first + solver.rank, first + solver.rank))
    bread[first:, first:] = np.linalg.inv(products)
    leads = np.zeros((first + len(coef), first + solver.rank))
    leads[first:, first:] = solver.to_coef
    if first:
        bread[0, 0] = 1.0
        leads[0] = np.append(n**-0.5, -(solver.centre @ solver.to_coef + middle))
    inner, freedom, units = meat(Z * residual[:, None], Z, own, exchange, solver.n_parameters)
    lead = leads @ bread
    covariance = lead @ inner @ lead.T
    shares = np.bincount(exchange.strata + 1, minlength=len(exchange.variances) + 1)[1:] / n
    return MomentFit(
        coef=coef,
        intercept=mean - float(solver.centre @ coef + middle @ theta),
        noise_scale=_noise_scale(y - mean, own, solver),
        mismatch_rate=float(exchange.lost.mean()),
        mismatch_rate_se=float(np.sqrt(shares**2 @ exchange.variances)),
        attenuation=weakest,
        covariance=covariance,
        freedom=freedom,
        units=units,
        as_given=least_squares_as_given(solver, basis, y),
        design=design_of(n, int(exchange.blocks.max()) + 1, solver),
    )


def least_squares_as_given(solver: LeastSquares, basis: FloatArray, y: FloatArray) -> Estimates:
    """Ordinary least squares with White's standard errors (HC1)."""
    n, first = len(y), int(solver.fit_intercept)
    solution = solver.solve(y)
    Q = np.column_stack([np.full(n, n**-0.5), basis]) if first else basis
    scores = Q * (y - solution.fitted)[:, None]
    leads = np.zeros((first + len(solution.coef), first + solver.rank))
    leads[first:, first:] = solver.to_coef
    if first:
        leads[0] = np.append(n**-0.5, -solver.centre @ solver.to_coef)
    freedom = n - solver.n_parameters
    covariance = leads @ (scores.T @ scores * (n / freedom)) @ leads.T
    values = np.append([solution.intercept] if first else [], solution.coef)
    return Estimates(values, standard_errors_of(covariance), freedom)


def _smallest(products: FloatArray, method: str) -> float:
    """How much of the weakest direction the exchange leaves; nothing is refused."""
    singular = np.linalg.svd(products, compute_uv=False)
    smallest = float(singular.min(initial=1.0))
    weakest = smallest**0.5 if method == "lahiri-larsen" else smallest
    if weakest > MOMENTS.weakest:
        return weakest
    cause = (
        "some features do not vary inside groups, and method='ratio' uses differences inside "
        "groups alone; use method='lahiri-larsen'"
        if method == "ratio"
        else "with this rate of mismatches the labels given say nothing about some coefficients; "
        "check the rate, or give groups"
    )
    raise ValueError(f"the equations have no unique solution: {cause}")


def _noise_scale(labels: FloatArray, own: FloatArray, solver: LeastSquares) -> float:
    """Labels have the same sum of squares in any order: what the fit leaves of it is noise."""
    left = float(labels @ labels) - float(own @ own)
    return float(np.sqrt(max(left, 0.0) / (len(labels) - solver.n_parameters)))
