"""Scores of the settings that were compared on held-out groups."""

from typing import Any, Self

import numpy as np

from ._fitted import need
from ._style import BLUE, ORANGE, panels, tidy


class ChoiceDisplay:
    """What each setting loses against the best one, on held-out groups.

    Bars are one standard error. The setting chosen is filled; the plainest ones stand at the top.

    Parameters
    ----------
    results : dict of arrays
        `cv_results_` of a `ShuffledRegressorCV`.
    chosen : int
        Entry of the setting chosen.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from unshuffle import ShuffledRegressorCV
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> from unshuffle.show.plots import ChoiceDisplay
    >>> data = make_shuffled_regression(
    ...     120, 2, noise=0.3, shuffle="groups", n_groups=30, random_state=0
    ... )
    >>> model = ShuffledRegressorCV(cv=3, random_state=0).fit(data.X, data.y, groups=data.groups)
    >>> display = ChoiceDisplay.from_estimator(model)
    >>> display.chosen == model.chosen_index_
    True
    """

    ax_: Any
    figure_: Any

    def __init__(self, results: dict[str, Any], chosen: int) -> None:
        self.results = results
        self.chosen = chosen

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None) -> Self:
        """Draw the scores of a fitted model.

        Parameters
        ----------
        model : ShuffledRegressorCV
            A fitted one.
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        display : ChoiceDisplay
        """
        results = need(model, "cv_results_", "use ShuffledRegressorCV")
        return cls(results, int(model.chosen_index_)).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw into `ax`, or a new figure."""
        self.figure_, (axes,) = panels(ax, 1, size=(8.0, 4.0))
        self.ax_, found = axes, self.results
        places = -np.arange(len(found["gain"]))
        axes.axvline(0.0, color="0.6", linewidth=1.0, zorder=0)
        for k, place in enumerate(places):
            own = k == self.chosen
            axes.errorbar(
                -found["lost"][k], place, xerr=found["lost_error"][k], fmt="o", capsize=3,
                color=ORANGE if own else BLUE, markerfacecolor=ORANGE if own else "none",
            )  # fmt: skip
        axes.set_yticks(places, _names(found))
        axes.set_xlabel("held-out log density, less the best")
        axes.set_title("Settings on held-out groups", loc="left")
        tidy(axes)
        return self


def _names(found: dict[str, Any]) -> list[str]:
    if "family" in found:
        pairs = zip(found["family"], found["start"], strict=True)
        return [f"{family}, {start}" for family, start in pairs]
    return [
        f"{start}, temper {temper:.3g}, ridge {ridge:.2g}{_law(noise)}"
        for start, temper, ridge, noise in zip(
            found["start"], found["temper"], found["ridge"], found["noise"], strict=True
        )
    ]


def _law(noise: str) -> str:
    """The law of the noise, where it is not the usual one."""
    return "" if noise == "normal" else f", noise {noise}"
