"""Figures as SVG that takes its colours from the page, light or dark."""

import re
from collections.abc import Callable
from html import escape
from io import StringIO
from typing import Any, NamedTuple

import numpy as np

from ...kernels.types import FloatArray
from ..plots import (
    CoefficientDisplay,
    MatchDisplay,
    MatchModelDisplay,
    PathDisplay,
    ResidualDisplay,
    SolutionsDisplay,
)
from ..plots import _style as palette
from ..settings import ShowSettings
from .facts import DataFacts
from .rows import FitRows

INK = "#0a0b0c"  # a colour used for nothing else, to be replaced in the SVG
# The page sets these variables, differently in light and dark.
VARIABLES = {
    INK: "currentColor",
    palette.BLUE: "var(--blue)",
    palette.VERMILION: "var(--vermilion)",
    palette.GREEN: "var(--green)",
    palette.PURPLE: "var(--purple)",
    palette.ORANGE: "var(--orange)",
    palette.SKY: "var(--sky)",
    palette.GREY: "var(--grey)",
}
STYLE: dict[str, Any] = {
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": INK,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "svg.fonttype": "none",  # text stays text: smaller, and a reader can search it
    "svg.hashsalt": "unshuffle",
    "axes.titlesize": 11.5,
    "axes.titleweight": "bold",
}


class Figure(NamedTuple):
    """A figure of the page: heights of its lines of panels in inches, and what draws on them."""

    name: str
    caption: str
    heights: tuple[float, ...]
    draw: Callable[[Any], Any]
    n_columns: int = 1


def figures_of(model: Any, data: DataFacts, rows: FitRows, limits: ShowSettings) -> list[Figure]:
    """Every figure for which this fit has something to show."""
    figures = [_coefficients(model, limits)]
    if hasattr(model, "solutions_"):
        figures.append(_solutions(model, limits))
    if rows.n_groups > 1 and hasattr(model, "match_proba_"):
        figures.append(_groups(model, data, rows))
    elif rows.n_groups and data.n_rows - rows.n_known <= limits.most_paired_rows:
        figures.append(_pairs(model))
    if rows.fitted is not None and hasattr(model, "expected_labels_"):
        figures.append(_residuals(model, rows.fitted, limits))
    if hasattr(model, "match_model_"):
        figures.append(_clues(model))
    if len(getattr(model, "objective_path_", ())) > 1:
        figures.append(_path(model, limits))
    return figures


def leading(model: Any, n_most: int) -> tuple[list[int], str]:
    """The features with the largest |t|, in their own order, and a note if others are left out.

    Where there are no standard errors the largest coefficients are taken.
    """
    n_features = len(model.coef_)
    if n_features <= n_most:
        return list(range(n_features)), ""
    size, measure = np.abs(model.coef_), "size"
    errors = getattr(model, "standard_errors_", np.full(1, np.nan))[-n_features:]
    if not np.isnan(errors).any() and (errors > 0).all():
        size, measure = size / errors, "|t|"
    chosen = sorted(int(j) for j in np.argsort(-size, kind="stable")[:n_most])
    note = (
        f" Only the {n_most:,} of {n_features:,} coefficients with the largest {measure} are shown."
    )
    return chosen, note


def _coefficients(model: Any, limits: ShowSettings) -> Figure:
    chosen, note = leading(model, limits.most_drawn_coefficients)
    return Figure(
        "coefficients",
        "The fit, and least squares on the labels as given, which ignores the shuffle." + note,
        (1.5 + 0.33 * max(len(chosen), 4),),
        lambda axes: CoefficientDisplay.from_estimator(model, features=chosen, ax=axes),
    )


def _solutions(model: Any, limits: ShowSettings) -> Figure:
    chosen, note = leading(model, limits.most_drawn_coefficients)
    compared = len(model.null_scores_) > 0
    caption = (
        "Where matchings almost as good as the best have different coefficients, the data do not "
        "determine which is right."
    )
    if compared:
        caption += " Below: scores of the best match and of labels unrelated to the features."
    return Figure(
        "solutions",
        caption + note,
        (2.9,) * (1 + compared),
        lambda axes: SolutionsDisplay.from_estimator(model, features=chosen, ax=axes),
    )


def _groups(model: Any, data: DataFacts, rows: FitRows) -> Figure:
    groups: Any = rows.groups
    names = groups + 1 if data.group_names is None else data.group_names  # people count from 1
    return Figure(
        "groups",
        "Bright cells are rows that hold their own label with high probability. Groups and "
        "rows with the lowest probabilities come first.",
        (3.9,),
        lambda axes: MatchDisplay.from_estimator(model, groups=names, known=groups < 0, ax=axes),
    )


def _pairs(model: Any) -> Figure:
    return Figure(
        "pairs",
        "A sharp bright diagonal means that the pairing is certain; a broad or dim one that many "
        "pairings are about equally probable.",
        (4.2,),
        lambda axes: MatchDisplay.from_pairs(*_first_group(model), ax=axes),
    )


def _clues(model: Any) -> Figure:
    return Figure(
        "clues",
        "Rows in bins of the probability that their clues give. On the line, labels confirm what "
        "the clues say.",
        (4.2,),
        lambda axes: MatchModelDisplay.from_estimator(model, ax=axes),
    )


def _residuals(model: Any, fitted: FloatArray, limits: ShowSettings) -> Figure:
    caption = (
        "A trend or a bend would contradict the model. Residuals spread less than the noise "
        "because expected labels are averages over permutations."
    )
    if getattr(model, "pairing_", "") == "lost":
        caption += " Small waves are harmless: where the order is lost, neighbours share labels."
    display = ResidualDisplay(
        fitted, model.expected_labels_ - fitted, model.noise_scale_, max_points=limits.most_points
    )
    return Figure("residuals", caption, (3.6,), display.plot)


def _path(model: Any, limits: ShowSettings) -> Figure:
    chosen, note = leading(model, limits.most_drawn_coefficients)
    caption = "Flat lines at the end mean convergence. Open markers are the values reported."
    return Figure(
        "path",
        caption + note,
        (2.4, 2.9),
        lambda axes: PathDisplay.from_estimator(model, features=chosen, ax=axes),
    )


def as_svg(figure: Figure, width: float) -> str:
    """Draw on panels below each other and turn them into SVG for a page."""
    import matplotlib.style
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Drawing
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    heights = figure.heights
    with matplotlib.style.context(["default", STYLE]):
        layout = ConstrainedLayoutEngine(hspace=0.06, h_pad=0.06)
        drawing = Drawing(figsize=(width, sum(heights)), layout=layout)
        axes = drawing.subplots(
            len(heights), figure.n_columns, squeeze=False, height_ratios=heights
        )
        figure.draw(axes.ravel() if axes.size > 1 else axes[0, 0])
        # Figure.savefig would lay out twice and draw twice.
        layout.execute(drawing)
        drawing.set_layout_engine("none")
        svg = StringIO()
        canvas: Any = FigureCanvasSVG(drawing)
        canvas.print_svg(svg, metadata={"Date": None, "Creator": None})
    return _for_page(svg.getvalue(), figure.name, figure.caption)


def _for_page(svg: str, name: str, caption: str) -> str:
    """Only the drawing: colours and font of the page, ids of its own, no fixed size."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.S)
    svg = re.sub(r'<g id="[^"]*">', "<g>", svg)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'url\(#|(?<=href=")#', lambda found: f"{found[0]}{name}-", svg)
    svg = re.sub(r"font: (?:(\w+) )?([\d.]+)px [^;\"]*", _font, svg)
    for colour, variable in VARIABLES.items():
        svg = svg.replace(colour, variable)
    svg = re.sub(r"\n\s*", "\n", svg)
    view = re.search(r'viewBox="[^"]*"', svg)
    assert view is not None, "matplotlib writes a view box"
    opening = f'<svg role="img" aria-label="{escape(caption)}" {view[0]}>'
    return opening + svg[svg.index(">") + 1 :].strip()


def _font(found: re.Match[str]) -> str:
    weight = f"; font-weight: {found[1]}" if found[1] else ""
    return f"font-size: {found[2]}px{weight}"


def _first_group(model: Any) -> tuple[Any, FloatArray, FloatArray | None]:
    """Arguments of `MatchDisplay.from_pairs` for the first group."""
    rows, pairs = model.pair_probabilities(0)
    # Labels whose order is lost are sorted by size; others stand beside their own rows.
    order_lost = getattr(model, "pairing_", None) == "lost"
    labels = model.labels_given_[rows] if order_lost else None
    return pairs, model.aligned_around_[rows], labels
