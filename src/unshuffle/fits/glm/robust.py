"""Scores of single rows, for the sandwich of fits of labels in known order, and of times."""

import numpy as np

from ...families.cox import Times
from ...families.exponential import LabelFamily
from ...families.poisson import safe_exp
from ...kernels.types import FloatArray
from .covariance import sandwich
from .cox_model import CoxModel
from .data import GlmData
from .known import KnownFit
from .settings import CLIMB


def robust_of_known(data: GlmData, family: LabelFamily, known: KnownFit) -> FloatArray:
    """Sandwich of a generalised linear model, with the correction for few rows (HC1)."""
    rows = family.row_terms(known.eta, known.precision)
    by_eta = rows.a_eta + rows.u_eta[:, 0] * family.statistic(data.y)
    scores = (data.weights * by_eta)[:, None] * data.Z
    return sandwich(known.covariance, scores, scores.shape[1])


def robust_of_known_times(data: GlmData, times: Times, known: KnownFit) -> FloatArray:
    """Sandwich of Cox's model (Lin and Wei 1989), with the correction for few rows."""
    relative = data.weights * safe_exp(known.eta)
    risk = times.at_risk(relative)
    means = np.column_stack([times.at_risk(relative * column) for column in data.Z.T])
    means /= np.where(risk > 0.0, risk, 1.0)[:, None]
    jumps = times.hazard(safe_exp(known.eta), data.weights)
    # The baseline follows the coefficients: the logarithm of a jump falls by the mean of those at
    # risk.
    by_jumps = np.cumsum(jumps[:, None] * means, axis=0)[times.place]
    exposed = data.Z * times.cumulative(jumps)[:, None] - by_jumps
    scores = times.event[:, None] * (data.Z - means[times.place])
    scores -= safe_exp(known.eta)[:, None] * exposed
    return sandwich(known.covariance, data.weights[:, None] * scores, data.Z.shape[1])


def profile_scores(model: CoxModel, parameters: FloatArray) -> FloatArray:
    """Derivative of each row's log density where the baseline follows the parameters, (n, k).

    With the baseline's jumps as further parameters, this is the score of a row less its regression
    on their scores, which is what the sandwich of the coefficients needs.
    """
    step = CLIMB.difference
    scores = np.empty((len(model.data.y), model.n_parameters))
    for k in range(model.n_parameters):
        shift = np.zeros(model.n_parameters)
        shift[k] = step
        above, below = (model.log_densities(parameters + sign * shift) for sign in (1.0, -1.0))
        scores[:, k] = (above - below) / (2.0 * step)
    weighted: FloatArray = scores * model.data.weights[:, None]
    return weighted
