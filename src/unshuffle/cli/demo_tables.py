"""The tables of `unshuffle demo`: shipped data, shuffled inside zones, fitted four ways."""

from typing import Any, NamedTuple

import numpy as np
from rich.table import Table
from sklearn.linear_model import LinearRegression

from ..datasets.boston import load_boston
from ..datasets.simulated import cut_by_rank, shuffle_inside
from ..estimators.hard import HardEMRegressor
from ..estimators.shuffled import ShuffledRegressor
from ..estimators.stochastic import StochasticEMRegressor
from ..io.frames import NamedMatrix
from ..kernels.types import FloatArray, IntArray
from .settings import CLI


class DemoSetting(NamedTuple):
    """A column of the housing data to predict, and the column whose ranks make the zones."""

    label: str
    zones_by: str
    n_zones: int


class DemoRows(NamedTuple):
    """Rows of a setting: features, ordered labels, zones, and the labels shuffled inside zones."""

    X: FloatArray
    y: FloatArray
    zones: IntArray
    shuffled: FloatArray


EASY = DemoSetting("MEDV", "DIS", 60)
HARD = DemoSetting("LSTAT", "MEDV", 4)


def coefficient_table(setting: DemoSetting, seed: int) -> Table:
    """Coefficients on all rows: OLS on shuffled labels, Stochastic EM, OLS with known order."""
    boston = load_boston()
    names = [name for name in boston.columns if name != setting.label]
    data = shuffled_rows(setting, np.arange(len(boston.data)), seed)
    models = fit_all(data, seed)
    em = models["Stochastic EM"]
    shown = {name: model for name, model in models.items() if name != "Hard EM"}
    table = Table(
        title=f"Coefficients for {setting.label}, per standard deviation of the feature",
        caption=f"Stochastic EM: {em.n_groups_} groups, {em.n_iter_} iterations, "
        f"noise {em.noise_scale_:.2f}, {'converged' if em.converged_ else 'not converged'}",
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("feature")
    for name in shown:
        table.add_column(name, justify="right")
    scale = data.X.std(axis=0)
    for j, name in enumerate(names):
        table.add_row(name, *(f"{model.coef_[j] * scale[j]:+.2f}" for model in shown.values()))
    return table


def comparison_table(
    setting: DemoSetting, seed: int, n_splits: int = CLI.demo_splits
) -> tuple[Table, str]:
    """Test error on rows not used for fitting, mean over splits, and the result in words."""
    n = len(load_boston().data)
    errors: dict[str, list[float]] = {}
    for split in range(n_splits):
        rows = np.random.RandomState([seed, split]).permutation(n)
        train = shuffled_rows(setting, rows[n // 5 :], seed)
        test = shuffled_rows(setting, rows[: n // 5], seed)
        for name, model in fit_all(train, seed).items():
            residual = model.predict(test.X) - test.y
            errors.setdefault(name, []).append(float(np.sqrt(np.mean(residual**2))))
    rmse = {name: float(np.mean(values)) for name, values in errors.items()}
    worst, floor = rmse["OLS, shuffled"], rmse["OLS, known order"]
    table = Table(
        title=f"Test error (RMSE) for {setting.label}, mean of {n_splits} splits",
        title_justify="left",
    )
    for head in ("method", "RMSE", "against OLS, shuffled"):
        table.add_column(head, justify="left" if head == "method" else "right")
    for name, value in rmse.items():
        table.add_row(name, f"{value:.2f}", f"{value / worst:.2f}x")
    return table, in_words((worst - rmse["Stochastic EM"]) / (worst - floor))


def fit_with_verdict(setting: DemoSetting, seed: int) -> ShuffledRegressor:
    """Fit all rows by the default estimator, with the names of the columns."""
    boston = load_boston()
    data = shuffled_rows(setting, np.arange(len(boston.data)), seed)
    names = tuple(name for name in boston.columns if name != setting.label)
    model = ShuffledRegressor(random_state=seed)
    return model.fit(NamedMatrix(data.X, names), data.shuffled, groups=data.zones)


def in_words(removed: float) -> str:
    """The share of the error caused by the shuffle that Stochastic EM removes."""
    if removed <= 0:
        return (
            "Stochastic EM is no better than OLS on shuffled labels here: the data do not hold "
            "enough information to undo this shuffle."
        )
    return f"Stochastic EM removes {removed:.0%} of the error that the shuffle caused."


def fit_all(data: DemoRows, seed: int) -> dict[str, Any]:
    """Fit the four models to one set of rows."""
    X, y, zones, shuffled = data
    return {
        "OLS, shuffled": LinearRegression().fit(X, shuffled),
        "Stochastic EM": StochasticEMRegressor(max_iter=200, random_state=seed).fit(
            X, shuffled, groups=zones
        ),
        "Hard EM": HardEMRegressor(max_iter=200, random_state=seed).fit(X, shuffled, groups=zones),
        "OLS, known order": LinearRegression().fit(X, y),
    }


def shuffled_rows(setting: DemoSetting, rows: IntArray, seed: int) -> DemoRows:
    """Some rows of a setting, with the labels shuffled inside zones."""
    boston = load_boston()
    zones = cut_by_rank(boston.column(setting.zones_by), setting.n_zones)[rows]
    y = boston.column(setting.label)[rows]
    shuffled = y[shuffle_inside(np.random.RandomState(seed), zones)]
    return DemoRows(boston.without(setting.label)[rows], y, zones, shuffled)
