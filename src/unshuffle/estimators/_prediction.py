"""Intervals in which the labels of new rows lie."""

import warnings
from typing import Any

import numpy as np
from scipy.stats import t as student

from ..exceptions import UnshuffleWarning
from ..fits.results import MixtureFit
from ..inference.intervals import check_level
from ..kernels.types import FloatArray
from ._attributes import stack_level


def prediction_interval(
    model: Any, rows: FloatArray, predicted: FloatArray, level: float
) -> FloatArray:
    r"""Lower and upper ends of intervals that hold a share `level` of new labels.

    The variance of a new label around its prediction is :math:`x^T C x + s^2`, with the covariance
    C of the coefficients (intercept included) and the noise s, taken as normal.
    """
    check_level(level)
    covariance = getattr(model, "covariance_", None)
    if covariance is None or not np.isfinite(covariance).all():
        raise ValueError(
            f"this fit of {type(model).__name__} has no standard errors, so its predictions have "
            "no intervals; ShuffledRegressor and StochasticEMRegressor have them where the verdict "
            "is not 'reject', MixtureRegressor with noise='normal'"
        )
    _warn_other_noise(model)
    if model.fit_intercept:
        rows = np.column_stack([np.ones(len(rows)), rows])
    variance = np.einsum("ij,jk,ik->i", rows, covariance, rows) + model.noise_scale_**2
    found = model._found if isinstance(model._found, MixtureFit) else model._stochastic
    freedom = found.design.freedom
    half = student.ppf(0.5 + 0.5 * level, freedom) * np.sqrt(np.maximum(variance, 0.0))
    return np.stack([predicted - half, predicted + half], axis=1)


def _warn_other_noise(model: Any) -> None:
    """Say where the law of the noise is not the one that the intervals assume."""
    law, grows = getattr(model, "noise_", "normal"), getattr(model, "spread_by_fit_", False)
    if law == "normal" and not grows:
        return
    found = "depends on the fitted value" if grows else f"is not normal (noise_ is {law!r})"
    warnings.warn(
        f"the spread of the noise {found}; prediction intervals assume normal noise of one spread",
        UnshuffleWarning,
        stacklevel=stack_level(),
    )
