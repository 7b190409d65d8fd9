"""Estimators for linked labels that need no law of the noise: closed forms, O(n d²)."""

from dataclasses import dataclass

import numpy as np

from ..families.least_squares import LeastSquares
from ..families.normal_equations import NormalEquations
from ..inference.intervals import Estimates
from ..inference.moments import (
    Exchange,
    Units,
    choose_units,
    expected_features,
    instruments,
    rate_slopes,
    score_products,
    with_rates,
)
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
    """Solve the estimating equations for a table in memory.

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
    n, ordinary = len(y), solver.solve(y)
    basis = (X - solver.centre) @ solver.to_coef
    W = expected_features(basis, exchange)
    Z = instruments(method, basis, W, exchange)
    mean, middle = 0.0, np.zeros(solver.rank)
    if fit_intercept:
        mean, middle = float(y.mean()), W.mean(axis=0)
        W, Z = W - middle, Z - Z.mean(axis=0)
    labels, products = y - mean, Z.T @ W
    weakest = smallest(products, method)
    theta = np.linalg.solve(products, Z.T @ labels).astype(np.float64, copy=False)
    theta += np.linalg.solve(products, Z.T @ (labels - W @ theta))  # rounding of the first
    own, Z = basis @ theta, with_constant(Z, fit_intercept)
    sizes = np.bincount(exchange.blocks)
    units = choose_units(n, len(sizes), float((sizes**2).sum()), solver.n_parameters)
    scores = Z * (labels - W @ theta)[:, None]
    inside, n_rates = exchange.strata >= 0, len(exchange.variances)
    counts = np.bincount(exchange.strata[inside], minlength=n_rates).astype(float)
    lost = np.bincount(exchange.strata[inside], exchange.lost[inside], n_rates)
    given = with_constant(basis, fit_intercept) * (y - ordinary.fitted)[:, None]
    return conclude(
        Equations(solver, method, n, len(sizes), theta, products, weakest, mean, middle),
        units,
        with_rates(
            units.factor * score_products(scores, exchange.blocks, units),
            rate_slopes(Z, own, exchange), counts, lost / np.maximum(counts, 1),
            exchange.variances,
        ),
        noise_ss=float(labels @ labels) - float(own @ own),
        mismatch_rate=float(exchange.lost.mean()),
        mismatch_rate_se=float(np.sqrt((counts / n) ** 2 @ exchange.variances)),
        as_given=least_squares_as_given(
            solver, n, np.append(ordinary.intercept, ordinary.coef), given.T @ given
        ),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Equations:
    """Estimating equations and their solution, in coordinates of an orthonormal basis of X.

    Attributes
    ----------
    solver : Solver
    method : str
    n_rows, n_blocks : int
    theta : array of shape (rank,)
    products : array of shape (rank, rank)
        Z' E[A] X, both centred where there is an intercept.
    weakest : float
        Smallest attenuation.
    mean : float
        Of the labels; zero without an intercept.
    middle : array of shape (rank,)
        Mean of E[A] X; zero without an intercept.
    """

    solver: LeastSquares | NormalEquations
    method: str
    n_rows: int
    n_blocks: int
    theta: FloatArray
    products: FloatArray
    weakest: float
    mean: float
    middle: FloatArray


def conclude(
    found: Equations,
    units: Units,
    meat: FloatArray,
    *,
    noise_ss: float,
    mismatch_rate: float,
    mismatch_rate_se: float,
    as_given: Estimates,
) -> MomentFit:
    """From the solution in the basis to coefficients with their covariance."""
    solver, n, first = found.solver, found.n_rows, int(found.solver.fit_intercept)
    coef = solver.to_coef @ found.theta
    bread = np.eye(first + solver.rank)
    bread[first:, first:] = np.linalg.inv(found.products)
    lead = leads(solver, n, found.middle) @ bread
    return MomentFit(
        coef=coef,
        intercept=found.mean - float(solver.centre @ coef + found.middle @ found.theta),
        # Labels have the same sum of squares in any order: what the fit leaves of it is noise.
        noise_scale=float(np.sqrt(max(noise_ss, 0.0) / (n - solver.n_parameters))),
        mismatch_rate=mismatch_rate,
        mismatch_rate_se=mismatch_rate_se,
        attenuation=found.weakest,
        covariance=lead @ meat @ lead.T,
        freedom=units.freedom,
        units="blocks" if units.by_block else "rows",
        as_given=as_given,
        design=design_of(n, found.n_blocks, solver),
    )


def with_constant(Z: FloatArray, fit_intercept: bool) -> FloatArray:
    """A column of ones, of length one, before the others."""
    return np.column_stack([np.full(len(Z), len(Z) ** -0.5), Z]) if fit_intercept else Z


def leads(
    solver: LeastSquares | NormalEquations, n_rows: int, middle: FloatArray | float = 0.0
) -> FloatArray:
    """From coordinates in the basis, the constant first, to intercept and coefficients."""
    first = int(solver.fit_intercept)
    found = np.zeros((first + len(solver.to_coef), first + solver.rank))
    found[first:, first:] = solver.to_coef
    if first:
        found[0] = np.append(n_rows**-0.5, -(solver.centre @ solver.to_coef + middle))
    return found


def least_squares_as_given(
    solver: LeastSquares | NormalEquations, n_rows: int, values: FloatArray, squares: FloatArray
) -> Estimates:
    """Ordinary least squares with White's standard errors (HC1), from products of its scores."""
    lead, freedom = leads(solver, n_rows), n_rows - solver.n_parameters
    errors = standard_errors_of(lead @ squares @ lead.T * (n_rows / freedom))
    return Estimates(values[1 - int(solver.fit_intercept) :], errors, freedom)


def smallest(products: FloatArray, method: str) -> float:
    """How much of the weakest direction the exchange leaves; nothing is refused."""
    singular = np.linalg.svd(products, compute_uv=False)
    least = float(singular.min(initial=1.0))
    weakest = least**0.5 if method == "lahiri-larsen" else least
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
