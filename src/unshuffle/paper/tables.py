"""Small operations on tidy tables that several experiments need."""

from typing import TYPE_CHECKING

import pandas as pd

from .style import ERROR, STYLES, legend_outside, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEASURES = ["error", "cosine", "norm"]


def by_method(table: pd.DataFrame, *more: str) -> pd.DataFrame:
    """Mean error, cosine and norm per method (and per value of further columns)."""
    means = table.groupby([*more, "method"], sort=False)[MEASURES].mean()
    return means.round(3).reset_index()


def errors_wide(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Mean error with one column per method and one line per value of `column`."""
    wide = table.pivot_table(index=column, columns="method", values="error", sort=False)
    return wide.round(3).reset_index().rename_axis(columns=None)


def mean_of(measure: str, table: pd.DataFrame, method: str) -> float:
    """Mean error, cosine with the truth or norm of one method."""
    return float(table.loc[table["method"] == method, measure].mean())


def draw_bands(table: pd.DataFrame, x: str, label: str, methods: tuple[str, ...]) -> "Figure":
    """Mean and one standard deviation of the error against `x`, one line per method."""
    figure, (axis,) = new_figure()
    for method in methods:
        stats = table[table["method"] == method].groupby(x)["error"].agg(["mean", "std"])
        style = STYLES[method]
        axis.plot(stats.index, stats["mean"], label=method, markersize=4, **style)
        low, high = stats["mean"] - stats["std"], stats["mean"] + stats["std"]
        axis.fill_between(stats.index, low, high, color=style["color"], alpha=0.12, linewidth=0)
    axis.set(xlabel=label, ylabel=ERROR, ylim=(0, None))
    legend_outside(figure, axis)
    return figure
