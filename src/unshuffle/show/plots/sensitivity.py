"""Coefficients against the share of exchanged labels."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ..settings import SHOW
from ._fitted import check_fitted, choose, names_of, plain
from ._style import GREY, OURS, ink, panels, tidy

MOST_COLUMNS = 3
# The fit is marked at its own rate up to this multiple of the largest rate drawn; beyond it a
# level line shows its value, so that one distant point does not compress the curves.
FARTHEST = 1.25


class SensitivityDisplay:
    """One panel per coefficient: least squares at each rate of exchanged labels, and the fit.

    The line and the band are the estimates and intervals of `mismatch_sensitivity`. The point is
    the fit, at its own rate of mismatches and with its own interval. A conclusion that holds along
    the whole line does not depend on the rate.

    Parameters
    ----------
    result : SensitivityResult
        Of `mismatch_sensitivity`.
    features : sequence of int, optional
        Which of its coefficients to show, by place in ``result.names``; all of them by default.
    level : float
        Of the intervals.

    Attributes
    ----------
    ax_ : array of matplotlib Axes
        One per coefficient.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from unshuffle import ShuffledRegressor
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> from unshuffle.show.plots import SensitivityDisplay
    >>> data = make_shuffled_regression(200, 2, noise=0.3, shuffle="fraction", random_state=0)
    >>> model = ShuffledRegressor(random_state=0).fit(data.X, data.y)
    >>> display = SensitivityDisplay.from_estimator(model)
    >>> [axes.get_title(loc="left") for axes in display.ax_]
    ['x0', 'x1']
    """

    ax_: Any
    figure_: Any

    def __init__(
        self, result: Any, *, features: Sequence[int] | None = None, level: float = 0.95
    ) -> None:
        self.result = result
        self.features = choose(features, len(result.names))
        self.level = level

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        *,
        rates: Sequence[float] | None = None,
        features: Sequence[int] | None = None,
        level: float = 0.95,
        ax: Any = None,
    ) -> Self:
        """Draw the coefficients of a fitted model against the rate of exchanged labels.

        Parameters
        ----------
        model : estimator
            A fitted `ShuffledRegressor` or `StochasticEMRegressor`.
        rates : sequence of float, optional
            Shares of exchanged labels; those of `mismatch_sensitivity` by default.
        features : sequence of int, optional
            Which features to show; by default all of them, or the first 25 of more.
        level : float, default=0.95
            Level of the intervals.
        ax : matplotlib Axes, optional
            Where to draw: one for each feature.

        Returns
        -------
        display : SensitivityDisplay
        """
        check_fitted(model)
        if not hasattr(model, "mismatch_sensitivity"):
            raise ValueError(
                "this picture shows mismatch_sensitivity(), which "
                f"{type(model).__name__} does not have; use ShuffledRegressor or "
                "StochasticEMRegressor"
            )
        names = names_of(model)
        result = model.mismatch_sensitivity(*(() if rates is None else (rates,)))
        first = len(result.names) - len(names)  # after the intercept, where there is one
        chosen = choose(features, len(names))
        if features is None:
            chosen = chosen[: SHOW.most_drawn_coefficients]
        return cls(result, features=[first + j for j in chosen], level=level).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw; `ax` holds one axes per coefficient, or is None for a new figure."""
        n_panels = len(self.features)
        n_columns = 2 if n_panels == 4 else min(n_panels, MOST_COLUMNS)
        size = (6.4, 4.0) if n_panels == 1 else (3.1, 2.5)
        self.figure_, axes = panels(ax, n_panels, size=size, n_columns=n_columns)
        self.ax_ = np.array(axes, dtype=object)
        for panel, k in zip(axes, self.features, strict=True):
            self._draw(panel, int(k))
            tidy(panel)
        for number, panel in enumerate(axes):
            # On axes that were given nothing is known of what stands below or to the left.
            if ax is not None or number >= n_panels - n_columns:
                panel.set_xlabel("labels exchanged (%)")
            if ax is not None or number % n_columns == 0:
                panel.set_ylabel("coefficient")
        if ax is None:
            self.figure_.legend(
                *axes[0].get_legend_handles_labels(), loc="outside upper left", frameon=False,
                fontsize="small", ncols=3,
            )  # fmt: skip
        return self

    def _draw(self, axes: Any, k: int) -> None:
        found, order = self.result, np.argsort(self.result.rates, kind="stable")
        rates, ends = 100.0 * found.rates[order], found.interval(self.level)[order, k]
        axes.plot(
            rates, found.coef[order, k], color=GREY, marker="s", markersize=3.5, linewidth=1.5,
            label="least squares at this rate",
        )  # fmt: skip
        # The edge makes the band of a single rate visible, as a line.
        axes.fill_between(
            rates, *ends.T, facecolor=GREY, edgecolor=GREY, alpha=0.25, linewidth=0.8,
            label=f"{self.level:.0%} interval",
        )  # fmt: skip
        value, own = found.fitted.values[k], 100.0 * found.fitted_rate
        if own <= FARTHEST * max(rates.max(), 1.0):
            ends = found.fitted.interval(self.level)[k]
            half = None if np.isnan(ends).any() else np.abs(ends - value)[:, None]
            axes.errorbar(
                [own], [value], yerr=half, linestyle="none", markersize=6.5, elinewidth=1.8,
                capsize=0, zorder=3, label=f"this fit, {own:.3g} %", **OURS,
            )  # fmt: skip
        else:
            axes.axhline(value, color=OURS["color"], linewidth=1.5, label="this fit")
        low, high = axes.get_ylim()
        if low <= 0.0 <= high:
            axes.axhline(0.0, color=ink(), linewidth=0.8, alpha=0.5)
        axes.set_title(plain(found.names[k]), loc="left", fontsize="medium")
