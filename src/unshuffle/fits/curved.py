r"""Labels in lost order, aligned around a curve where the plane does not hold.

Real relations are seldom straight. Aligned around a plane, labels of a curved relation go to wrong
rows, and the slopes are those of no least squares fit. So squares and products of the features are
added, without what the plane explains of them (:mod:`unshuffle.search.curve_columns`). If they have
coefficients, the answer is the plane of the fit around the curve: least squares of its expected
labels on the features.
"""

from math import isnan

import numpy as np
from scipy.stats import chi2

from ..inference.sensitivity import relative_shift
from ..kernels.types import FloatArray
from ..search.curve_columns import n_products
from .auto_results import NAN, Outcome
from .curve_data import plane_of, with_curve
from .results import StochasticFit
from .robust import has_information
from .routes import ROUTES
from .table_fits import TableFits


def follow_curve(fits: TableFits, outcome: Outcome) -> Outcome:
    """Align around a curve, where the data determine one and contradict a plane."""
    straight = outcome.fit
    if outcome.pairing != "lost" or not _affords_curve(fits, straight):
        return outcome
    data = with_curve(fits.data, fits.solver)
    d, n_columns = fits.data.problem.X.shape[1], data.problem.X.shape[1]
    if n_columns == d:
        return outcome
    start = np.append(straight.coef, np.zeros(n_columns - d))
    bent = TableFits(data, fits.settings, fits.reporting)
    found = bent.stochastic(1.0, 0.0, init=start)
    p_value = plane_p_value(found, d)
    outcome = outcome._replace(curve_p_value=p_value)
    if not (p_value < ROUTES.curve_p and found.iterations.converged):
        return outcome
    fit, shift = plane_of(found, straight, fits.solver), outcome.temper_shift
    if not isnan(shift):
        shift = relative_shift(fits.solver, fit.coef, bent.tempered(found)[:d])
    return outcome._replace(fit=fit, temper_shift=shift)


def _affords_curve(fits: TableFits, fit: StochasticFit) -> bool:
    """Whether a fit maximises the likelihood, and there are rows and groups enough for a curve."""
    problem, settings = fits.data.problem, fits.settings
    d = problem.X.shape[1]
    k = d + n_products(d)
    maximum = has_information(fit) and fit.temper == 1.0 and fit.ridge == 0.0
    enough = problem.n_rows >= ROUTES.curve_rows * k and problem.n_groups >= k + ROUTES.curve_groups
    affordable = problem.n_rows * k <= ROUTES.curve_cells
    return settings.noise == "auto" and maximum and enough and affordable


def plane_p_value(found: StochasticFit, n_features: int) -> float:
    """Wald's test that all columns of a curve have no coefficient; nan where it has no errors."""
    assert found.uncertainty is not None
    first = int(found.design.fit_intercept) + n_features
    spread: FloatArray = found.uncertainty.covariance[first:, first:]
    if not np.isfinite(spread).all() or not found.uncertainty.fraction_kept > 0.0:
        return NAN
    away = found.coef[n_features:]
    return float(chi2.sf(float(away @ np.linalg.solve(spread, away)), len(away)))
