"""The sandwich covariance of a fit, from its data and its chain, and when it is used."""

from dataclasses import replace

import numpy as np

from ..alignment.chain import Chain
from ..alignment.sampled import SampledAlignment
from ..em.settings import DEFAULTS
from ..families.least_squares import LeastSquares
from ..inference.row_sandwich import row_sandwich
from ..inference.sampling_settings import SANDWICH
from ..inference.sandwich import (
    Expected,
    Robust,
    check_units,
    expect,
    nothing_lost,
    sandwich,
    unit_codes,
)
from ..inference.variance_test import model_p_value
from ..kernels.streams import FIRST_SANDWICH
from ..kernels.swap import Schedule
from ..kernels.types import IntArray
from .bootstrap import estimated_rate
from .curve_data import robust_of_features, with_curve
from .data import InMemory
from .results import Errors, StochasticFit, uncertainty_of


def robust_covariance(
    data: InMemory,
    fit: StochasticFit,
    expected: Expected | None = None,
    solver: LeastSquares | None = None,
) -> Robust:
    """Covariance that holds where the noise differs between rows.

    Parameters
    ----------
    data : InMemory
        The data of the fit.
    fit : StochasticFit
    expected : Expected, optional
        Expectations over permutations; if left out the chain of the fit continues for a while.
    solver : LeastSquares, optional
        X, factored without a ridge.

    Returns
    -------
    robust : Robust
    """
    if fit.curve is not None:
        own = LeastSquares(data.problem.X, fit_intercept=fit.design.fit_intercept)
        robust = robust_covariance(with_curve(data, own), fit.curve.fit)
        return robust_of_features(robust, fit.curve, own)
    problem, posterior = data.problem, fit.permutations
    if posterior is None or not has_information(fit):
        raise ValueError(
            "this fit does not maximise the likelihood (a ridge, or a temper other than one), so "
            "that it has no sandwich covariance; use method='bootstrap'"
        )
    if solver is None:
        solver = LeastSquares(problem.X, fit_intercept=fit.design.fit_intercept)
    rate, codes = estimated_rate(fit), units_of(data, fit)
    check_units(codes, solver.n_parameters + 1 + (rate is not None))
    if expected is None:
        expected = _continue_chain(data, fit, solver)
    if exchanges(fit):
        return row_sandwich(problem, solver, posterior.state, expected, rate)
    return sandwich(problem, solver, posterior.state, expected, codes, rate)


def with_errors(
    data: InMemory,
    fit: StochasticFit,
    expected: Expected | None,
    asked: str,
    solver: LeastSquares,
) -> StochasticFit:
    """Choose the standard errors of a fit: the model's, or those of the sandwich.

    Parameters
    ----------
    data : InMemory
        The data of the fit.
    fit : StochasticFit
    expected : Expected or None
        Expectations over permutations; None where the fit did not average them.
    asked : {"auto", "model", "robust"}
        "auto" takes the sandwich where a test rejects the model's covariance and there are enough
        independent units, and the model's where `expected` is None.
    solver : LeastSquares

    Returns
    -------
    fit : StochasticFit
        With `errors`.
    """
    if asked == "model" or not has_information(fit) or (asked == "auto" and expected is None):
        return with_model_errors(fit)
    if asked == "robust":
        return _with_robust_errors(fit, robust_covariance(data, fit, expected, solver))
    assert expected is not None and fit.permutations is not None
    state, rate = fit.permutations.state, estimated_rate(fit)
    try:
        robust = robust_covariance(data, fit, expected, solver)
        codes = units_of(data, fit)
        p_value = model_p_value(
            data.problem, solver, state, expected, codes, rate, exchanged=exchanges(fit)
        )
    except ValueError:  # too few units, or no information to build a sandwich from
        return with_model_errors(fit)
    if p_value < SANDWICH.level:
        return _with_robust_errors(fit, robust, p_value)
    return with_model_errors(fit, p_value)


def with_model_errors(fit: StochasticFit, p_value: float = float("nan")) -> StochasticFit:
    """Report the standard errors from the observed information."""
    assert fit.uncertainty is not None
    return replace(fit, errors=Errors("model", fit.uncertainty, fit.design.freedom, p_value))


def has_information(fit: StochasticFit) -> bool:
    """Whether the fit maximises the likelihood, so that it has an observed information."""
    return fit.uncertainty is not None and not np.isnan(fit.uncertainty.inflation)


def exchanges(fit: StochasticFit) -> bool:
    """Whether rows that mostly hold their own labels may have exchanged them."""
    posterior = fit.permutations
    return (
        posterior is not None and posterior.problem.n_movable > 0 and posterior.prior.mostly_right
    )


def units_of(data: InMemory, fit: StochasticFit) -> IntArray:
    """Number of the independent unit of each of the user's rows."""
    posterior = fit.permutations
    assert posterior is not None
    moves = posterior.problem.n_movable > 0
    return unit_codes(data.problem, by_group=moves and not posterior.prior.mostly_right)


def _with_robust_errors(
    fit: StochasticFit, robust: Robust, p_value: float = float("nan")
) -> StochasticFit:
    assert fit.permutations is not None
    rate = float("nan") if fit.mismatch_rate is None else fit.mismatch_rate
    found = uncertainty_of(robust.covariance, fit.permutations.state, rate, fit.design)
    return replace(fit, errors=Errors("robust", found, robust.freedom, p_value, robust))


def _continue_chain(data: InMemory, fit: StochasticFit, solver: LeastSquares) -> Expected:
    """Expectations from a chain that continues where the fit ended."""
    problem, posterior = data.problem, fit.permutations
    assert posterior is not None
    if posterior.problem.n_movable == 0:
        return nothing_lost(problem, solver)
    steps = DEFAULTS.information.sweeps_per_snapshot * problem.n_movable
    chain = Chain(problem, Schedule(steps, 0, 1), posterior.seed, data.workers)
    align = SampledAlignment(chain, posterior.prior)
    return expect(problem, solver, posterior.state, align, FIRST_SANDWICH)
