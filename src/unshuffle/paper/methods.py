"""The methods every synthetic experiment compares, and what is measured of each."""

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import HuberRegressor, LinearRegression

from ..datasets.simulated import ShuffledData
from ..estimators.hard import HardEMRegressor
from ..estimators.stochastic import StochasticEMRegressor
from ..kernels.types import FloatArray
from ..metrics import coefficient_cosine, coefficient_error
from .style import EXACT, HARD, HUBER, KNOWN, OLS, STOCHASTIC, ZERO

CONTROLS = (EXACT, OLS, HUBER, ZERO, KNOWN)
ALL = (HARD, STOCHASTIC, *CONTROLS)

Row = dict[str, Any]


def hard_em(seed: int, n_init: int | str = "auto", **more: Any) -> HardEMRegressor:
    """Hard EM as in the paper: n starts, one of them the order given."""
    return HardEMRegressor(n_init=n_init, fit_intercept=False, n_jobs=-1, random_state=seed, **more)


def stochastic_em(seed: int, variant: str = "published", **more: Any) -> StochasticEMRegressor:
    """Stochastic EM as in the paper: k = 50, s = n log n, burn-in n, gap n / 10."""
    return StochasticEMRegressor(variant=variant, fit_intercept=False, random_state=seed, **more)


FITS: dict[str, Callable[[ShuffledData, int], FloatArray]] = {
    HARD: lambda data, seed: hard_em(seed).fit(data.X, data.y).coef_,
    STOCHASTIC: lambda data, seed: stochastic_em(seed).fit(data.X, data.y).coef_,
    EXACT: lambda data, seed: stochastic_em(seed, "exact").fit(data.X, data.y).coef_,
    OLS: lambda data, seed: LinearRegression(fit_intercept=False).fit(data.X, data.y).coef_,
    HUBER: lambda data, seed: _huber(data),
    ZERO: lambda data, seed: np.zeros_like(data.coef),
    KNOWN: lambda data, seed: (
        LinearRegression(fit_intercept=False).fit(data.X, data.y_ordered).coef_
    ),
}


def compare(data: ShuffledData, seed: int, methods: Iterable[str] = ALL, **facts: Any) -> list[Row]:
    """One row per method: `facts`, and how far the coefficients are from the truth."""
    with warnings.catch_warnings():
        # Descents cut short at the paper's 50 iterations are part of the experiment.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return [
            {**facts, "method": name, **distances(FITS[name](data, seed), data.coef)}
            for name in methods
        ]


def distances(coef: FloatArray, truth: FloatArray) -> Row:
    """Error, cosine with the truth, and norm: the last two separate recovery from shrinkage."""
    return {
        "error": coefficient_error(coef, truth),
        "cosine": coefficient_cosine(coef, truth),
        "norm": float(np.linalg.norm(coef)),
    }


def _huber(data: ShuffledData) -> FloatArray:
    model = HuberRegressor(fit_intercept=False, max_iter=1000)
    coef: FloatArray = model.fit(data.X, data.y).coef_
    return coef
