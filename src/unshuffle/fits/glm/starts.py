"""Coefficients that a user gave, as a start of a fit."""

import numpy as np

from ...families.exponential import LabelFamily
from ...families.irls import maximise
from ...kernels.types import FloatArray
from .data import GlmData
from .known import KnownFit


def theta_at(data: GlmData, family: LabelFamily, known: KnownFit, coef: FloatArray) -> FloatArray:
    """Coordinates of given coefficients; the intercept is the best one beside them."""
    slopes = data.design.to_natural[int(data.design.fit_intercept) :]
    theta: FloatArray = np.asarray(np.linalg.lstsq(slopes, coef, rcond=None)[0], dtype=float)
    if not data.design.fit_intercept:
        return theta
    theta[0] = 0.0
    # The sum of the labels is the same in any order, so that it determines the intercept.
    found = maximise(
        family, np.ones((len(data.y), 1)), data.offset + data.Z @ theta, data.weights,
        (data.weights * data.y)[:, None], known.precision, known.theta[:1],
    )  # fmt: skip
    theta[0] = found.theta[0]
    return theta
