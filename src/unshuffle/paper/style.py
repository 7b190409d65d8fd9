"""One style for all pictures: colour-blind safe, with markers that differ in greyscale."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HARD = "Hard EM"
STOCHASTIC = "Stochastic EM"
EXACT = "Stochastic EM, exact"
EARLY = "Stochastic EM, early stop"
OLS = "OLS, labels as given"
HUBER = "Huber"
ZERO = "zero vector"
KNOWN = "OLS, known order"
ERROR = "error ‖ŵ − w₀‖"

# Okabe and Ito's palette; solid lines for the paper's methods, dashed for the controls.
STYLES: dict[str, dict[str, Any]] = {
    HARD: {"color": "#E69F00", "marker": "s", "linestyle": "-"},
    STOCHASTIC: {"color": "#0072B2", "marker": "o", "linestyle": "-"},
    EXACT: {"color": "#009E73", "marker": "^", "linestyle": "--"},
    EARLY: {"color": "#56B4E9", "marker": "P", "linestyle": "--"},
    OLS: {"color": "#D55E00", "marker": "v", "linestyle": "--"},
    HUBER: {"color": "#CC79A7", "marker": "D", "linestyle": "--"},
    ZERO: {"color": "#000000", "marker": "x", "linestyle": ":"},
    KNOWN: {"color": "#7F7F7F", "marker": "+", "linestyle": ":"},
}
HATCHES = {HARD: "//", STOCHASTIC: "", EXACT: "..", EARLY: "--", OLS: "xx", KNOWN: "\\\\"}


def new_figure(n_panels: int = 1, *, share_y: bool = True) -> tuple["Figure", list["Axes"]]:
    """A figure with panels side by side; no window, no global state."""
    from matplotlib.figure import Figure

    figure = Figure(
        figsize=(6.4 if n_panels == 1 else 2.0 + 2.6 * n_panels, 4.0), layout="constrained"
    )
    axes = figure.subplots(1, n_panels, sharey=share_y, squeeze=False)[0]
    for axis in axes:
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, list(axes)


def legend_outside(figure: "Figure", axis: "Axes") -> None:
    """Put the legend beside the panels, where it hides nothing."""
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", frameon=False, fontsize="small")
