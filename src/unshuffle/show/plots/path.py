"""Objective and coefficients, iteration by iteration."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ...kernels.types import FloatArray
from ._fitted import choose, names_of, need, plain
from ._style import BLUE, MOST_STYLES, feature_styles, legend_beside, panels, tidy


class PathDisplay:
    """Objective and coefficients after each iteration of EM.

    The last iterates of a sampled EM vary around their average. That average is reported, and
    drawn as a larger marker at the end.

    Parameters
    ----------
    objective : array of shape (n_iter,)
        Expected sum of squares.
    coef : array of shape (n_iter, n_features)
        Coefficients.
    final : array of shape (n_features,)
        Coefficients reported.
    names : sequence of str
        Names of the features.

    Attributes
    ----------
    ax_ : array of two matplotlib Axes
        Objective, coefficients.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from unshuffle import StochasticEMRegressor
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> from unshuffle.show.plots import PathDisplay
    >>> data = make_shuffled_regression(200, 2, noise=0.3, shuffle="fraction", random_state=0)
    >>> model = StochasticEMRegressor(mismatch_rate="estimate", random_state=0)
    >>> display = PathDisplay.from_estimator(model.fit(data.X, data.y))
    >>> len(display.objective) == model.n_iter_
    True
    """

    ax_: Any
    figure_: Any

    def __init__(
        self, objective: FloatArray, coef: FloatArray, final: FloatArray, names: Sequence[str]
    ) -> None:
        self.objective = objective
        self.coef = coef
        self.final = final
        self.names = list(names)

    @classmethod
    def from_estimator(
        cls, model: Any, *, features: Sequence[int] | None = None, ax: Any = None
    ) -> Self:
        """Draw the path of a fitted model.

        Parameters
        ----------
        model : estimator
            A fitted estimator that iterates and keeps its path.
        features : sequence of int, optional
            Which features to show; all of them by default.
        ax : two matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        display : PathDisplay
        """
        advice = "use ShuffledRegressor, StochasticEMRegressor or HardEMRegressor"
        objective = need(model, "objective_path_", advice)
        names, shown = names_of(model), choose(features, len(model.coef_))
        path = np.asarray(model.coef_path_)[:, shown]
        chosen = [names[j] for j in shown]
        return cls(objective, path, model.coef_[shown], chosen).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw; `ax` holds two axes, or is None for a new figure."""
        self.figure_, (upper, lower) = panels(ax, 2)
        self.ax_ = np.array([upper, lower])
        iterations = np.arange(1, len(self.objective) + 1)
        upper.plot(iterations, self.objective, color=BLUE, marker="o", markersize=3)
        upper.set_ylabel("expected sum of squares")
        upper.set_title("Objective", loc="left")
        styles = feature_styles(len(self.names))
        for name, values, last, style in zip(
            self.names, self.coef.T, self.final, styles, strict=True
        ):
            lower.plot(
                iterations, values, markersize=3, markevery=max(1, len(values) // 12),
                label=plain(name), **style,
            )  # fmt: skip
            lower.plot(
                iterations[-1:], [last], marker=style["marker"] or "o", markersize=7,
                markerfacecolor="none", color=style["color"], linestyle="none",
            )  # fmt: skip
        lower.set_ylabel("coefficient")
        lower.set_title("Coefficients", loc="left")
        if len(self.names) <= MOST_STYLES:
            legend_beside(lower)
        for axes in (upper, lower):
            axes.set_xlabel("iteration")
            axes.locator_params(axis="x", integer=True)
            tidy(axes)
        return self
