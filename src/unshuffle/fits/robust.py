"""The sandwich covariance of a fit, from its data and its chain."""

import numpy as np

from ..alignment.chain import Chain
from ..alignment.sampled import SampledAlignment
from ..em.settings import DEFAULTS
from ..families.least_squares import LeastSquares
from ..inference.sandwich import Robust, check_units, expect, nothing_lost, sandwich, unit_codes
from ..kernels.streams import FIRST_SANDWICH
from ..kernels.swap import Schedule
from .bootstrap import estimated_rate
from .data import InMemory
from .results import StochasticFit


def robust_covariance(data: InMemory, fit: StochasticFit) -> Robust:
    """Covariance that holds where the noise differs between rows.

    Parameters
    ----------
    data : InMemory
        The data of the fit.
    fit : StochasticFit

    Returns
    -------
    robust : Robust
    """
    problem, posterior = data.problem, fit.permutations
    if posterior is None or fit.uncertainty is None or np.isnan(fit.uncertainty.inflation):
        raise ValueError(
            "this fit does not maximise the likelihood (a ridge, or a temper other than one), so "
            "that it has no sandwich covariance; use method='bootstrap'"
        )
    solver = LeastSquares(problem.X, fit_intercept=fit.design.fit_intercept)
    moves, rate = posterior.problem.n_movable > 0, estimated_rate(fit)
    codes = unit_codes(problem, by_group=moves and not posterior.prior.mostly_right)
    check_units(codes, solver.n_parameters + 1 + (rate is not None))
    if not moves:
        expected = nothing_lost(problem, solver)
    else:
        steps = DEFAULTS.information.sweeps_per_snapshot * problem.n_movable
        chain = Chain(problem, Schedule(steps, 0, 1), posterior.seed, data.workers)
        align = SampledAlignment(chain, posterior.prior)
        expected = expect(problem, solver, posterior.state, align, FIRST_SANDWICH)
    return sandwich(problem, solver, posterior.state, expected, codes, rate)
