"""Coefficients and their intervals, method by method."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from ...kernels.types import FloatArray
from ._fitted import choose, names_of, need, plain
from ._style import AS_GIVEN, KNOWN, OURS, ink, panels, tidy

ROW_HEIGHT = 0.42
STYLES = {"unshuffle": OURS, "labels as given": AS_GIVEN, "known order": KNOWN}


class Series(NamedTuple):
    """Coefficients of one method; `interval` of shape (d, 2) is None where there is none."""

    values: FloatArray
    interval: FloatArray | None


class CoefficientDisplay:
    """Forest of coefficients: the fit, least squares on the labels as given, known order.

    Parameters
    ----------
    names : sequence of str
        Names of the features.
    series : dict of Series
        Values and intervals by name of the method, in the order of drawing.
    level : float
        Of the intervals.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from unshuffle import StochasticEMRegressor
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> from unshuffle.show.plots import CoefficientDisplay
    >>> data = make_shuffled_regression(200, 2, noise=0.3, shuffle="fraction", random_state=0)
    >>> model = StochasticEMRegressor(mismatch_rate="estimate", random_state=0)
    >>> display = CoefficientDisplay.from_estimator(
    ...     model.fit(data.X, data.y), known_order=data.coef
    ... )
    >>> list(display.series)
    ['unshuffle', 'labels as given', 'known order']
    """

    ax_: Any
    figure_: Any

    def __init__(
        self, names: Sequence[str], series: dict[str, Series], *, level: float = 0.95
    ) -> None:
        self.names = list(names)
        self.series = series
        self.level = level

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        *,
        known_order: Any = None,
        features: Sequence[int] | None = None,
        level: float = 0.95,
        ax: Any = None,
    ) -> Self:
        """Draw the coefficients of a fitted model.

        Parameters
        ----------
        model : estimator
            Any fitted estimator of this package.
        known_order : array-like of shape (n_features,) or fitted regressor, optional
            Coefficients with the order known: the truth, or a `LinearRegression`; a
            `ShuffledRegressor(pairing="known")` also has intervals.
        features : sequence of int, optional
            Which features to show, from the top; all of them by default.
        level : float, default=0.95
            Level of the intervals.
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        display : CoefficientDisplay
        """
        need(model, "coef_", "use an estimator of this package")
        names = names_of(model)
        series = _of_model(model, level)
        if known_order is not None:
            series["known order"] = _known(known_order, len(names), level)
        chosen = choose(features, len(names))
        picked = {
            title: Series(
                found.values[chosen], None if found.interval is None else found.interval[chosen]
            )
            for title, found in series.items()
        }
        return cls([names[j] for j in chosen], picked, level=level).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw; `ax` is where, or None for a new figure."""
        height = 1.4 + ROW_HEIGHT * max(len(self.names), 3)
        self.figure_, (axes,) = panels(ax, size=(6.4, min(height, 40.0)))
        self.ax_ = axes
        places = np.arange(len(self.names), dtype=float)
        spread = 0.5 / max(len(self.series), 1)
        axes.axvline(0.0, color=ink(), linewidth=0.8, alpha=0.5)
        for k, (title, found) in enumerate(self.series.items()):
            style = STYLES.get(title, {"color": ink(), "marker": "x"})
            half = None
            if found.interval is not None and not np.isnan(found.interval).all():
                half = np.abs(found.interval.T - found.values)
            axes.errorbar(
                found.values, places + spread * (k - (len(self.series) - 1) / 2), xerr=half,
                linestyle="none", markersize=5.5, elinewidth=1.6, capsize=0, label=title, **style,
            )  # fmt: skip
        axes.set_yticks(places, [plain(name) for name in self.names])
        axes.set_ylim(len(self.names) - 0.4, -0.6)
        any_interval = any(found.interval is not None for found in self.series.values())
        bars = f", {self.level:.0%} intervals" if any_interval else ""
        axes.set_xlabel(f"coefficient{bars}")
        axes.set_title("Coefficients", loc="left", pad=24)
        tidy(axes)
        axes.legend(frameon=False, fontsize="small", ncols=3, loc="lower left",
                    bbox_to_anchor=(-0.02, 1.0), borderaxespad=0.1, handletextpad=0.2)  # fmt: skip
        return self


def _of_model(model: Any, level: float) -> dict[str, Series]:
    """The fit, and least squares on the labels as given where the model's summary has it."""
    if not hasattr(model, "standard_errors_"):
        return {"unshuffle": Series(model.coef_, None)}
    summary = model.summary(level)
    first = len(summary.names) - len(model.coef_)  # after the intercept, where there is one
    found = {"unshuffle": summary.ours, "labels as given": summary.as_given}
    series = {}
    for title, estimates in found.items():
        if estimates is not None:
            interval = estimates.interval(level)[first:]
            missing = np.isnan(interval).all()
            series[title] = Series(estimates.values[first:], None if missing else interval)
    return series


def _known(known_order: Any, n_features: int, level: float) -> Series:
    if hasattr(known_order, "summary"):
        return _of_model(known_order, level)["unshuffle"]
    values = np.asarray(getattr(known_order, "coef_", known_order), dtype=np.float64)
    if values.shape != (n_features,):
        raise ValueError(
            f"known_order has coefficients of shape {values.shape} but the model has {n_features} "
            "features; give one coefficient per feature, without the intercept"
        )
    return Series(values, None)
