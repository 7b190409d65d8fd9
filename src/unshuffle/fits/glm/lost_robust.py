"""Sandwich of fits to labels in lost order: groups are what is independent.

The score of a group is the expectation over permutations of the scores of its rows. These are
linear in the label a row holds, so that expected labels are enough. Rows whose label is known are
groups of one. The bread is the inverse of Louis' information.
"""

import numpy as np

from ...families.exponential import LabelFamily
from ...inference.sampling_settings import SANDWICH
from ...kernels.types import FloatArray
from .covariance import Errors, sandwich
from .data import GlmData
from .group_sums import edges_of_sums
from .lost_chain import ChainFit


def robust_of_lost(
    data: GlmData, family: LabelFamily, found: ChainFit, errors: Errors
) -> FloatArray | None:
    """Sandwich of the coefficients; None without information, or with too few groups."""
    scores = group_scores(data, family, found)
    size = scores.shape[1]
    sizes = np.diff(np.append(edges_of_sums(data), len(data.y)))
    worth = len(data.y) ** 2 / float((sizes**2).sum())  # in groups of like size
    if worth < SANDWICH.spare_units + size or not np.isfinite(errors.covariance).all():
        return None
    q = len(found.theta)
    return sandwich(errors.covariance, scores, size)[:q, :q]


def group_scores(data: GlmData, family: LabelFamily, found: ChainFit) -> FloatArray:
    """Gradient of each group's log-likelihood, shape (n_groups, n_parameters).

    By the coordinates and, where there is one, the log precision.
    """
    rows = family.row_terms(found.eta, found.precision)
    v = family.statistic(found.expected)
    scores = data.Z * (rows.a_eta + rows.u_eta[:, 0] * v)[:, None]
    if family.has_precision:
        # What depends on labels alone has the same sum over a group in any order.
        own = family.label_terms(data.y, found.precision).b_log
        scores = np.column_stack([scores, rows.a_log + rows.u_log[:, 0] * v + own])
    value: FloatArray = np.add.reduceat(scores, edges_of_sums(data))
    return value
