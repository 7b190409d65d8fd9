"""The inverse of an information, or what to do where there is none."""

import numpy as np

from ...kernels.types import FloatArray


def inverse_information(information: FloatArray) -> FloatArray:
    """Covariance of coefficients; labels that say nothing about some of them are refused."""
    try:
        return np.asarray(np.linalg.inv(information), dtype=np.float64)
    except np.linalg.LinAlgError as error:
        raise ValueError(
            "the labels say nothing about some of the coefficients: there are too few of them, or "
            "their weights are too small; give more rows, or choose fewer features"
        ) from error
