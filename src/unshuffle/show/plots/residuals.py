"""Residuals of the expected labels."""

from typing import Any, Self

import numpy as np

from ...kernels.types import FloatArray
from ._fitted import need
from ._style import BLUE, ink, panels, tidy


class ResidualDisplay:
    """Expected labels minus fitted values, against fitted values.

    Expected labels are averages over permutations and lie closer to the fit than the labels
    themselves. So the residuals spread less than the noise, whose standard deviation is drawn as
    dashed lines; the more uncertain the order, the less they spread.

    Parameters
    ----------
    fitted, residuals : arrays of shape (n_samples,)
    noise_scale : float
        Standard deviation of the noise.
    max_points : int, optional
        Draw at most so many rows, evenly spread over the fitted values.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from unshuffle import StochasticEMRegressor
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> from unshuffle.show.plots import ResidualDisplay
    >>> data = make_shuffled_regression(200, 2, noise=0.3, shuffle="fraction", random_state=0)
    >>> model = StochasticEMRegressor(mismatch_rate="estimate", random_state=0)
    >>> display = ResidualDisplay.from_estimator(model.fit(data.X, data.y), data.X)
    >>> bool(abs(display.residuals.mean()) < 0.1)
    True
    """

    ax_: Any
    figure_: Any

    def __init__(
        self,
        fitted: FloatArray,
        residuals: FloatArray,
        noise_scale: float,
        *,
        max_points: int | None = None,
    ) -> None:
        self.fitted = fitted
        self.residuals = residuals
        self.noise_scale = noise_scale
        self.max_points = max_points

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any = None, *, max_points: int | None = None, ax: Any = None
    ) -> Self:
        """Draw the residuals of a fitted model.

        Parameters
        ----------
        model : estimator
            A fitted estimator with `expected_labels_`.
        X : array-like of shape (n_samples, n_features), optional
            The rows of the fit; needed where the model has no `fitted_values_`.
        max_points : int, optional
            Most rows to draw; all by default.
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        display : ResidualDisplay
        """
        advice = "use ShuffledRegressor, StochasticEMRegressor or HardEMRegressor"
        expected = need(model, "expected_labels_", advice)
        if X is None:
            fitted = need(model, "fitted_values_", "pass X, the rows of the fit")
        else:
            fitted = np.asarray(model.predict(X), dtype=np.float64)
        if fitted.shape != expected.shape:
            raise ValueError(
                f"X has {len(fitted)} rows but the model was fitted to {len(expected)}; give the "
                "rows of the fit"
            )
        display = cls(fitted, expected - fitted, model.noise_scale_, max_points=max_points)
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw; `ax` is where, or None for a new figure."""
        self.figure_, (axes,) = panels(ax)
        self.ax_ = axes
        shown = np.arange(len(self.fitted))
        rows = ""
        if self.max_points is not None and len(shown) > self.max_points:
            places = np.linspace(0, len(shown) - 1, self.max_points).round().astype(int)
            shown = np.argsort(self.fitted, kind="stable")[places]
            rows = f" ({len(shown):,} of {len(self.fitted):,} rows)"
        axes.plot(
            self.fitted[shown], self.residuals[shown], linestyle="none", marker="o",
            markersize=3.5, markeredgewidth=0, alpha=0.45, color=BLUE,
        )  # fmt: skip
        axes.axhline(0.0, color=ink(), linewidth=0.8)
        for sign in (-1.0, 1.0):
            axes.axhline(
                sign * self.noise_scale, color=ink(), linewidth=0.8, linestyle="--", alpha=0.6,
                label=f"± noise ({self.noise_scale:.3g})" if sign > 0 else "_",
            )  # fmt: skip
        axes.set_xlabel(f"fitted value{rows}")
        axes.set_ylabel("expected label − fitted value")
        axes.set_title("Residuals of the expected labels", loc="left")
        axes.legend(frameon=False, fontsize="small")
        tidy(axes)
        return self
