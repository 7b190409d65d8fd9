"""Are match probabilities calibrated?"""

from typing import Any, Self

import numpy as np

from ...kernels.types import FloatArray, IntArray
from ._fitted import need
from ._style import BLUE, ink, panels, tidy

Z = 1.96  # of the 95 % intervals


class MatchCalibrationDisplay:
    """Share of right matches against their predicted probability.

    Rows are put into bins of about equal size by probability. Bars are 95 % intervals (Wilson).

    Parameters
    ----------
    predicted, observed : arrays of shape (n_bins,)
        Mean probability and share of right rows in each bin.
    counts : array of shape (n_bins,)
        Rows in each bin.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import numpy as np
    >>> from unshuffle.show.plots import MatchCalibrationDisplay
    >>> rng = np.random.default_rng(0)
    >>> proba = rng.uniform(size=1000)
    >>> display = MatchCalibrationDisplay.from_predictions(rng.uniform(size=1000) < proba, proba)
    >>> bool(abs(display.observed - display.predicted).max() < 0.2)
    True
    """

    ax_: Any
    figure_: Any

    def __init__(self, predicted: FloatArray, observed: FloatArray, counts: IntArray) -> None:
        self.predicted = predicted
        self.observed = observed
        self.counts = counts

    @classmethod
    def from_estimator(cls, model: Any, truth: Any, *, n_bins: int = 10, ax: Any = None) -> Self:
        """Draw the calibration of a fitted model.

        Parameters
        ----------
        model : estimator
            Fitted, with `match_proba_`.
        truth : array-like of bool of shape (n_samples,)
            Whether the label given beside a row is its own.
        n_bins : int, default=10
            Most bins.
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        display : MatchCalibrationDisplay
        """
        advice = "it needs labels given beside rows, and variant='exact'"
        proba = need(model, "match_proba_", advice)
        return cls.from_predictions(truth, proba, n_bins=n_bins, ax=ax)

    @classmethod
    def from_predictions(
        cls, truth: Any, match_proba: Any, *, n_bins: int = 10, ax: Any = None
    ) -> Self:
        """Draw the calibration of any match probabilities.

        Parameters
        ----------
        truth : array-like of bool of shape (n_samples,)
            Whether the label given beside a row is its own.
        match_proba : array-like of shape (n_samples,)
            Predicted probability of that.
        n_bins : int, default=10
            Most bins; equal probabilities share one.
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        display : MatchCalibrationDisplay
        """
        proba = np.asarray(match_proba, dtype=np.float64)
        right = _check_truth(truth, len(proba))
        if n_bins < 1:
            raise ValueError(f"n_bins must be at least 1, got {n_bins}")
        edges = np.unique(np.quantile(proba, np.linspace(0.0, 1.0, n_bins + 1)[1:-1]))
        bins = np.searchsorted(edges, proba, side="right")
        counts = np.bincount(bins, minlength=len(edges) + 1)
        filled = counts > 0
        predicted = np.bincount(bins, proba, len(edges) + 1)[filled] / counts[filled]
        observed = np.bincount(bins, right, len(edges) + 1)[filled] / counts[filled]
        return cls(predicted, observed, counts[filled]).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw; `ax` is where, or None for a new figure."""
        self.figure_, (axes,) = panels(ax, size=(5.2, 4.8))
        self.ax_ = axes
        axes.plot([0, 1], [0, 1], color=ink(), linestyle="--", linewidth=0.8, label="calibrated")
        low, high = wilson(self.observed, self.counts)
        # Rounding may put an end of an interval slightly on the wrong side of its middle.
        half = np.maximum([self.observed - low, high - self.observed], 0.0)
        axes.errorbar(
            self.predicted, self.observed, yerr=half, color=BLUE, marker="o", linestyle="-",
            linewidth=1.0, elinewidth=1.4, label=f"{int(self.counts.sum()):,} rows",
        )  # fmt: skip
        axes.set_xlim(-0.03, 1.03)
        axes.set_ylim(-0.03, 1.03)
        axes.set_xlabel("match probability")
        axes.set_ylabel("share of right matches")
        axes.set_title("Calibration of match probabilities", loc="left")
        axes.legend(frameon=False, fontsize="small", loc="upper left")
        tidy(axes)
        return self


def wilson(share: FloatArray, counts: IntArray) -> tuple[FloatArray, FloatArray]:
    """Wilson's 95 % interval of a share; unlike the usual one it never has length zero."""
    centre = (share + Z**2 / (2 * counts)) / (1 + Z**2 / counts)
    half = Z / (1 + Z**2 / counts) * np.sqrt(share * (1 - share) / counts + (Z / 2 / counts) ** 2)
    return centre - half, centre + half


def _check_truth(truth: Any, n_rows: int) -> Any:
    right = np.asarray(truth)
    if right.shape != (n_rows,):
        raise ValueError(
            f"truth has shape {right.shape} but there are {n_rows} match probabilities; give one "
            "truth value per row"
        )
    if not np.isin(right, (0, 1)).all():
        raise ValueError(
            "truth states whether the label beside a row is its own: True or False only; "
            "from a permutation make it with permutation == np.arange(n)"
        )
    return right.astype(bool)
