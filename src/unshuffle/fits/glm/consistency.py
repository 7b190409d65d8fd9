r"""Is the model of the labels as given what a fit with mismatches says that it should be?

Where a share of the labels was redrawn, labels as given have expectations :math:`(1 - \alpha_i)
\mu_i + \alpha_i \bar\mu`, with :math:`\bar\mu` the mean of the group, whatever their law beyond the
mean. The model of the labels as given converges to that of these expectations. A difference is a
sign of a wrong mean: a curve, an interaction, outliers.
"""

import numpy as np
from scipy.stats import chi2

from ...families.exponential import LabelFamily
from ...families.irls import information_of, maximise, solve_positive
from ...kernels.types import FloatArray
from .data import GlmData
from .known import KnownFit
from .results import Consistency


def check_consistency(
    data: GlmData, family: LabelFamily, known: KnownFit, eta: FloatArray, redrawn: FloatArray
) -> Consistency:
    """Compare the slopes of the labels as given with those of their expectations."""
    n, starts = data.n_movable, data.problem.starts
    mean = family.mean(eta)
    weights = data.weights[:n]
    sums = np.add.reduceat(weights * mean[:n], starts[:-1])
    totals = np.add.reduceat(weights, starts[:-1])
    expected = mean.copy()
    expected[:n] += redrawn * (np.repeat(sums / totals, np.diff(starts)) - mean[:n])
    predicted = maximise(
        family, data.Z, data.offset, data.weights, (data.weights * expected)[:, None],
        known.precision, known.theta,
    )  # fmt: skip
    first = int(data.design.fit_intercept)
    difference = (known.theta - predicted.theta)[first:]
    length = float(np.linalg.norm(predicted.theta[first:]))
    covariance = _robust_covariance(data, family, known, expected)[first:, first:]
    # Labels without noise have a covariance of zero: what differs then has no direction to do so.
    square = float(difference @ solve_positive(covariance, difference))
    return Consistency(
        float(np.linalg.norm(difference)) / max(length, 1e-300),
        float(chi2.sf(square, len(difference))),
    )


def _robust_covariance(
    data: GlmData, family: LabelFamily, known: KnownFit, expected: FloatArray
) -> FloatArray:
    """Sandwich of the model of the labels as given, around their expectations."""
    rows = family.row_terms(known.eta, known.precision)
    bread = np.linalg.inv(
        information_of(data.Z, data.weights * family.fisher(known.eta, known.precision))
    )
    spread = (rows.u_eta[:, 0] * (data.y - expected)) ** 2
    middle = information_of(data.Z, data.weights**2 * spread)
    value: FloatArray = bread @ middle @ bread
    return value
