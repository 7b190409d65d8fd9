"""Does the match model say the same as the labels?"""

from typing import Any, Self

import numpy as np

from ...inference.match_model import Calibration, calibrate
from ._fitted import need
from ._style import BLUE, ink, panels, tidy
from .calibration import wilson


class MatchModelDisplay:
    """Calibration of a match model: what labels say, against what clues say.

    Rows are put into bins of about equal size by the probability of a right match that their clues
    give. Against it stands the mean probability once labels are seen, or, where the truth is known,
    the share of right matches with 95 % intervals (Wilson).

    Parameters
    ----------
    calibration : Calibration
    with_truth : bool, default=False
        Whether `calibration.found` are shares of right matches.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import numpy as np
    >>> from unshuffle import MixtureRegressor
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> from unshuffle.show.plots import MatchModelDisplay
    >>> data = make_shuffled_regression(
    ...     500, 3, noise=0.3, shuffle="fraction", fraction=0.2, random_state=3
    ... )
    >>> clue = (data.permutation != np.arange(500)) + np.random.default_rng(0).normal(size=500)
    >>> model = MixtureRegressor().fit(data.X, data.y, match_features=clue)
    >>> display = MatchModelDisplay.from_estimator(model)
    >>> bool(abs(display.calibration.found - display.calibration.predicted).max() < 0.2)
    True
    """

    ax_: Any
    figure_: Any

    def __init__(self, calibration: Calibration, with_truth: bool = False) -> None:
        self.calibration = calibration
        self.with_truth = with_truth

    @classmethod
    def from_estimator(
        cls, model: Any, truth: Any = None, *, n_bins: int = 10, ax: Any = None
    ) -> Self:
        """Draw the calibration of a fitted match model.

        Parameters
        ----------
        model : estimator
            Fitted with `match_features`.
        truth : array-like of bool of shape (n_samples,), optional
            Whether the label given beside a row is its own, where that is known.
        n_bins : int, default=10
            Most bins.
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        display : MatchModelDisplay
        """
        found = need(model, "match_model_", "give match_features to fit")
        if found.probabilities is None:
            raise ValueError(
                "a match model that was read from a file has no rows to draw; draw it after fit"
            )
        if n_bins < 1:
            raise ValueError(f"n_bins must be at least 1, got {n_bins}")
        modelled = (found.probabilities > 0.0) & (found.probabilities < 1.0)
        seen = np.asarray(model.match_proba_ if truth is None else truth, dtype=np.float64)
        if seen.shape != found.probabilities.shape:
            raise ValueError(
                f"truth has shape {seen.shape} but there are {len(found.probabilities)} rows; give "
                "one truth value per row"
            )
        bins = calibrate(found.probabilities[modelled], seen[modelled], n_bins)
        return cls(bins, truth is not None).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw; `ax` is where, or None for a new figure."""
        self.figure_, (axes,) = panels(ax, size=(5.2, 4.8))
        self.ax_ = axes
        predicted, found, counts = self.calibration
        axes.plot([0, 1], [0, 1], color=ink(), linestyle="--", linewidth=0.8, label="calibrated")
        half = None
        if self.with_truth:
            low, high = wilson(found, counts)
            half = np.maximum([found - low, high - found], 0.0)
        axes.errorbar(
            predicted, found, yerr=half, color=BLUE, marker="o", linestyle="-", linewidth=1.0,
            elinewidth=1.4, label=f"{int(counts.sum()):,} rows",
        )  # fmt: skip
        axes.set_xlim(-0.03, 1.03)
        axes.set_ylim(-0.03, 1.03)
        axes.set_xlabel("probability of a right match, from clues")
        mean = "probability of a right match, from clues and labels"
        axes.set_ylabel("share of right matches" if self.with_truth else mean)
        axes.set_title("Calibration of the match model", loc="left")
        axes.legend(frameon=False, fontsize="small", loc="upper left")
        tidy(axes)
        return self
