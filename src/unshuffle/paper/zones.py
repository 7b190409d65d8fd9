"""What the two experiments on real data share: labels shuffled inside zones, error on unseen rows."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression

from ..datasets.simulated import shuffle_inside
from ..estimators.hard import HardEMRegressor
from ..estimators.stochastic import StochasticEMRegressor
from ..exceptions import RankWarning
from ..kernels.types import FloatArray, IntArray
from .methods import Row
from .style import EARLY, EXACT, HARD, HATCHES, KNOWN, OLS, STOCHASTIC, STYLES, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = (OLS, HARD, STOCHASTIC, EARLY, EXACT, KNOWN)


def unit_range(values: FloatArray) -> FloatArray:
    """Scale to 0..1."""
    scaled: FloatArray = (values - values.min()) / np.ptp(values)
    return scaled


def test_errors(
    X: FloatArray, y: FloatArray, zones: IntArray, test: IntArray, seed: int, **facts: Any
) -> list[Row]:
    """Shuffle the training labels inside zones, fit every method, measure RMSE on the test rows."""
    train = np.setdiff1d(np.arange(len(y)), test)
    X_train, ordered, zones = X[train], y[train], zones[train]
    shuffled = ordered[shuffle_inside(np.random.RandomState(seed), zones)]
    em = {
        HARD: HardEMRegressor(n_jobs=-1, random_state=seed),
        STOCHASTIC: StochasticEMRegressor(variant="published", random_state=seed),
        # The paper asks how to stop where labels are shuffled: one zone in its turn decides.
        EARLY: StochasticEMRegressor(variant="published", early_stopping=True, random_state=seed),
        EXACT: StochasticEMRegressor(random_state=seed),
    }
    with warnings.catch_warnings():
        # Counts of k-mers are linearly dependent by nature; only predictions are used here.
        warnings.simplefilter("ignore", RankWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        models = {
            OLS: LinearRegression().fit(X_train, shuffled),
            **{name: m.fit(X_train, shuffled, groups=zones) for name, m in em.items()},
            KNOWN: LinearRegression().fit(X_train, ordered),
        }
    return [
        {
            **facts,
            "method": name,
            "rmse": float(np.sqrt(np.mean((m.predict(X[test]) - y[test]) ** 2))),
        }
        for name, m in models.items()
    ]


def draw_bars(table: pd.DataFrame) -> "Figure":
    """Test error of every method, bars in groups, standard deviation over repeats."""
    settings = list(dict.fromkeys(table["setting"]))
    figure, (axis,) = new_figure()
    figure.set_size_inches(max(6.4, 2.6 * len(settings)), 4.4)
    width = 0.8 / len(METHODS)
    for k, method in enumerate(METHODS):
        part = table[table["method"] == method].groupby("setting", sort=False)["rmse"]
        mean, spread = part.mean().reindex(settings), part.std().reindex(settings)
        position = np.arange(len(settings)) + (k - (len(METHODS) - 1) / 2) * width
        axis.bar(
            position, mean, 0.92 * width, yerr=spread, capsize=2, label=method,
            color=STYLES[method]["color"], hatch=HATCHES[method], edgecolor="white",
        )  # fmt: skip
    axis.set_xticks(range(len(settings)), settings)
    axis.set(ylabel="test error (RMSE)", ylim=(0, None))
    figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize="small")
    return figure


def mean_rmse(table: pd.DataFrame) -> pd.DataFrame:
    """Mean test error, settings as rows and methods as columns."""
    in_one_line = table.assign(setting=table["setting"].str.replace("\n", " "))
    return in_one_line.pivot_table(index="setting", columns="method", values="rmse", sort=False)


def summarise(table: pd.DataFrame) -> pd.DataFrame:
    """Mean test error per setting and method."""
    return mean_rmse(table).round(4).reset_index().rename_axis(columns=None)


def early_stopping(mean: pd.DataFrame) -> str:
    """What stopping by a held-out zone changes, in words."""
    ratio = mean[EARLY] / mean[STOCHASTIC]
    return (
        "Stopping the published variant when the labels of a held-out zone are most likely, "
        f"instead of after 50 iterations, changes its error by a factor of {ratio.min():.3f} to "
        f"{ratio.max():.3f}."
    )


def listed(mean: pd.DataFrame, digits: int) -> str:
    """The mean errors in words."""
    shown = {
        "OLS shuffled": OLS,
        "Hard EM": HARD,
        "Stochastic EM": STOCHASTIC,
        "known order": KNOWN,
    }
    lines = (
        f"{s}: " + ", ".join(f"{name} {mean.loc[s, m]:.{digits}f}" for name, m in shown.items())
        for s in mean.index
    )
    return "; ".join(lines) + "."
