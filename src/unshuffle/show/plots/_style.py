"""One style for all pictures: safe for the colour-blind, distinct in grey by marker and line."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette without its yellow, which is too pale on white paper.
BLUE, VERMILION, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
ORANGE, SKY, GREY = "#e69f00", "#56b4e9", "#7f7f7f"
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, GREY)
MARKERS = ("o", "v", "s", "D", "^", "P", "X")
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 3)), (0, (1, 3)))

# The same style for a method in every comparison.
OURS: dict[str, Any] = {"color": BLUE, "marker": "o"}
AS_GIVEN: dict[str, Any] = {"color": VERMILION, "marker": "v"}
KNOWN: dict[str, Any] = {"color": GREEN, "marker": "s", "markerfacecolor": "none"}

# So many features can be distinguished by colour, marker and line.
MOST_STYLES = len(COLOURS)


def panels(
    ax: Any,
    n_panels: int = 1,
    *,
    size: tuple[float, float] = (6.4, 4.0),
    n_columns: int | None = None,
) -> tuple["Figure", list["Axes"]]:
    """The axes to draw on: those given, or new ones side by side; `size` in inches for each.

    With `n_columns` new ones stand in lines of at most so many.
    """
    if ax is None and n_columns is not None:
        across, down = min(n_panels, n_columns), -(-n_panels // n_columns)
        figure, axes = _pyplot().subplots(
            down, across, squeeze=False, layout="constrained",
            figsize=(size[0] * across, size[1] * down),
        )  # fmt: skip
        for spare in axes.ravel()[n_panels:]:
            spare.remove()
        return figure, list(axes.ravel()[:n_panels])
    if ax is None:
        figure, axes = _pyplot().subplots(
            1, n_panels, squeeze=False, layout="constrained",
            figsize=(size[0] if n_panels == 1 else 0.75 * size[0] * n_panels, size[1]),
        )  # fmt: skip
        return figure, list(axes.ravel())
    given = list(np.atleast_1d(np.asarray(ax, dtype=object)).ravel())
    if len(given) != n_panels:
        raise ValueError(
            f"this picture has {n_panels} panel{'s' if n_panels > 1 else ''} but ax holds "
            f"{len(given)} axes; give ax=None or {n_panels}"
        )
    return given[0].figure, given


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        message = 'pictures need matplotlib; run: pip install "unshuffle[plots]"'
        raise ImportError(message) from error
    return plt


def ink() -> str:
    """The colour of text, so that reference lines follow the user's style."""
    from matplotlib import rcParams

    return str(rcParams["text.color"])


def tidy(axes: "Axes") -> None:
    """No frame, a faint grid behind the data."""
    axes.grid(alpha=0.2, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def legend_beside(axes: "Axes") -> None:
    """A legend to the right of the panel, where it hides nothing."""
    axes.legend(
        frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5),
        handlelength=2.4, borderaxespad=0.3,
    )  # fmt: skip


def feature_styles(n_features: int) -> list[dict[str, Any]]:
    """One colour, marker and line per feature; beyond `MOST_STYLES` all look the same."""
    if n_features > MOST_STYLES:
        return [{"color": BLUE, "marker": "", "linestyle": "-", "linewidth": 0.8}] * n_features
    styles = zip(COLOURS, MARKERS, LINES, strict=True)
    return [
        {"color": colour, "marker": marker, "linestyle": line}
        for colour, marker, line in list(styles)[:n_features]
    ]
