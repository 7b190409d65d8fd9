"""The solutions of the search, and their comparison with unrelated labels."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ...kernels.types import FloatArray
from ._fitted import choose, names_of, need, plain
from ._style import BLUE, GREY, MOST_STYLES, feature_styles, ink, legend_beside, panels, tidy


class SolutionsDisplay:
    """Coefficients of the best matchings against their objective, and the test of the best one.

    Where matchings of nearly the same objective have very different coefficients, the data do not
    determine which is right. The second panel compares the score of the best match with the
    scores of labels unrelated to the features; it is left out where no such labels were drawn.

    Parameters
    ----------
    objectives : array of shape (n_solutions,)
        Matched sums of squares, the best first.
    coef : array of shape (n_solutions, n_features)
        Their coefficients.
    names : sequence of str
        Names of the features.
    match_score, null_pvalue : float
        Score of the best match, lower is better, and its p-value against unrelated labels.
    null_scores : array
        Scores of unrelated labels.

    Attributes
    ----------
    ax_ : array of one or two matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from unshuffle import ShuffledRegressor
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> from unshuffle.show.plots import SolutionsDisplay
    >>> data = make_shuffled_regression(200, 2, noise=0.1, random_state=0)
    >>> model = ShuffledRegressor(random_state=0).fit(data.X, data.y)
    >>> display = SolutionsDisplay.from_estimator(model)
    >>> bool(display.objectives[0] == model.solution_objectives_[0])
    True
    """

    ax_: Any
    figure_: Any

    def __init__(
        self,
        objectives: FloatArray,
        coef: FloatArray,
        names: Sequence[str],
        *,
        match_score: float,
        null_scores: FloatArray,
        null_pvalue: float,
    ) -> None:
        self.objectives = objectives
        self.coef = coef
        self.names = list(names)
        self.match_score = match_score
        self.null_scores = null_scores
        self.null_pvalue = null_pvalue

    @classmethod
    def from_estimator(
        cls, model: Any, *, features: Sequence[int] | None = None, ax: Any = None
    ) -> Self:
        """Draw what the search of a fitted `ShuffledRegressor` found.

        Parameters
        ----------
        model : ShuffledRegressor
            Fitted, with a search.
        features : sequence of int, optional
            Which features to show; all of them by default.
        ax : one or two matplotlib Axes, optional
            Where to draw: two where `null_scores_` is not empty, otherwise one.

        Returns
        -------
        display : SolutionsDisplay
        """
        advice = (
            "a ShuffledRegressor has it where the order is lost and search is 'auto' or "
            "'population'"
        )
        coef = need(model, "solutions_", advice)
        names, shown = names_of(model), choose(features, len(model.coef_))
        return cls(
            model.solution_objectives_,
            coef[:, shown],
            [names[j] for j in shown],
            match_score=model.match_score_,
            null_scores=model.null_scores_,
            null_pvalue=model.null_pvalue_,
        ).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw; `ax` holds one axes per panel, or is None for a new figure."""
        compared = len(self.null_scores) > 0
        self.figure_, axes = panels(ax, 1 + compared)
        self.ax_ = np.array(axes, dtype=object)
        self._draw_solutions(axes[0])
        if compared:
            self._draw_null(axes[1])
        for panel in axes:
            tidy(panel)
        return self

    def _draw_solutions(self, axes: Any) -> None:
        for name, values, style in zip(
            self.names, self.coef.T, feature_styles(len(self.names)), strict=True
        ):
            axes.plot(
                self.objectives, values, linestyle="none", markersize=5,
                marker=style["marker"] or "o", color=style["color"],
                alpha=1.0 if style["marker"] else 0.4,
                label=plain(name),
            )  # fmt: skip
        axes.axvline(
            self.objectives[0], color=ink(), linewidth=0.8, linestyle="--", alpha=0.6,
            label="best match" if len(self.names) <= MOST_STYLES else "_",
        )  # fmt: skip
        axes.set_xlabel("matched sum of squares")
        axes.set_ylabel("coefficient")
        n_found = len(self.objectives)
        axes.set_title(f"{n_found} distinct matching{'s' if n_found > 1 else ''}", loc="left")
        if len(self.names) <= MOST_STYLES:
            legend_beside(axes)

    def _draw_null(self, axes: Any) -> None:
        scores = np.sort(self.null_scores)
        shares = np.arange(1, len(scores) + 1) / len(scores)
        axes.plot(
            scores, shares, color=GREY, marker="s", markersize=4, drawstyle="steps-post",
            label="unrelated labels",
        )  # fmt: skip
        axes.axvline(self.match_score, color=BLUE, linewidth=2.0, label="best match")
        axes.set_ylim(0.0, 1.05)
        axes.set_xlabel("match score (lower is better)")
        axes.set_ylabel("share of scores at or below")
        axes.set_title(f"Match against unrelated labels: p = {self.null_pvalue:.2g}", loc="left")
        axes.legend(frameon=False, fontsize="small")
