"""Pictures as SVG that takes its colours from the page, so that it is at home in light and dark."""

import re
from collections.abc import Callable
from html import escape
from io import StringIO
from typing import Any, NamedTuple

import numpy as np

from ..plots import CoefficientDisplay, MatchDisplay, PathDisplay, ResidualDisplay, SolutionsDisplay
from ..plots import _style as palette
from .facts import DataFacts

INK = "#0a0b0c"  # a colour nobody uses, to be found again in the SVG
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
WIDTH = 5.2  # inches: about one to one on a phone, two abreast on a screen
MOST_COEFFICIENTS = 25
MOST_POINTS = 700
# Above so many rows the chain behind the pairs of one group takes too long for a report.
MOST_PAIRED_ROWS = 20_000


class Picture(NamedTuple):
    """An SVG and what there is to see in it."""

    name: str
    svg: str
    caption: str


def draw_all(model: Any, data: DataFacts) -> list[Picture]:
    """Every picture that this fit has something to show in."""
    pictures = [_coefficients(model)]
    if hasattr(model, "solutions_"):
        pictures.append(_solutions(model))
    pairing = getattr(model, "_pairing", None)
    if pairing is not None and pairing.problem.n_blocks:
        pictures += _matches(model, data)
    if hasattr(model, "expected_labels_") and hasattr(model, "_problem"):
        pictures.append(_residuals(model))
    if len(getattr(model, "objective_path_", ())) > 1:
        pictures.append(_path(model))
    return pictures


def _coefficients(model: Any) -> Picture:
    chosen = leading(model, MOST_COEFFICIENTS)
    caption = "The fit beside least squares on the labels as given, which ignores the shuffle."
    caption += _limited(model, chosen)
    height = 1.5 + 0.33 * max(len(chosen), 4)
    return _picture(
        "coefficients", caption, (height,),
        lambda axes: CoefficientDisplay.from_estimator(model, features=chosen, ax=axes),
    )  # fmt: skip


def _limited(model: Any, chosen: list[int]) -> str:
    n_features = len(model.coef_)
    if len(chosen) == n_features:
        return ""
    return f" The {len(chosen)} clearest of {n_features:,} coefficients are shown."


def leading(model: Any, n_most: int) -> list[int]:
    """The features with the clearest coefficients, in the order of the table."""
    if len(model.coef_) <= n_most:
        return list(range(len(model.coef_)))
    size = np.abs(model.coef_)
    errors = getattr(model, "standard_errors_", np.full(1, np.nan))[-len(size) :]
    if not np.isnan(errors).any() and (errors > 0).all():
        size = size / errors
    return sorted(int(j) for j in np.argsort(-size, kind="stable")[:n_most])


def _solutions(model: Any) -> Picture:
    compared = len(model.null_scores_) > 0
    caption = (
        "Where matchings almost as good as the best have other coefficients, the data do not "
        "decide between them."
    )
    if compared:
        caption += " Below: the best match beside what labels unrelated to the features reach."
    chosen = leading(model, MOST_COEFFICIENTS)
    return _picture(
        "solutions", caption + _limited(model, chosen), (2.9,) * (1 + compared),
        lambda axes: SolutionsDisplay.from_estimator(model, features=chosen, ax=axes),
    )  # fmt: skip


def _matches(model: Any, data: DataFacts) -> list[Picture]:
    problem, names = model._pairing.problem, data.group_names
    pictures = []
    if problem.n_blocks > 1 and hasattr(model, "match_proba_"):
        caption = "Bright rows hold their own label. Groups and rows are ordered by doubt."
        pictures.append(_picture(
            "groups", caption, (3.9,),
            lambda axes: MatchDisplay.from_estimator(model, groups=names, ax=axes),
        ))  # fmt: skip
    elif problem.n_movable <= MOST_PAIRED_ROWS:
        caption = (
            "A sharp bright diagonal means that it is known who belongs to whom; a broad or dim "
            "one that many pairings are as good."
        )
        pictures.append(_picture(
            "pairs", caption, (4.2,),
            lambda axes: MatchDisplay.from_estimator(model, group=0, ax=axes),
        ))  # fmt: skip
    return pictures


def _residuals(model: Any) -> Picture:
    caption = (
        "There should be no bend in it. The band is narrower than the noise because expected "
        "labels lean towards the fit."
    )
    if getattr(model, "pairing_", "") == "lost":
        caption += " Small waves are no alarm: where the order is lost, neighbours share labels."
    return _picture(
        "residuals", caption, (3.6,),
        lambda axes: ResidualDisplay.from_estimator(model, max_points=MOST_POINTS, ax=axes),
    )  # fmt: skip


def _path(model: Any) -> Picture:
    caption = (
        "Coefficients that have levelled off have settled. Large open markers are the values "
        "reported."
    )
    chosen = leading(model, MOST_COEFFICIENTS)
    return _picture(
        "path", caption + _limited(model, chosen), (2.4, 2.9),
        lambda axes: PathDisplay.from_estimator(model, features=chosen, ax=axes),
    )  # fmt: skip


def _picture(
    name: str, caption: str, heights: tuple[float, ...], draw: Callable[[Any], Any]
) -> Picture:
    """Draw on panels one below the other and turn them into SVG for a page."""
    import matplotlib.style
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    with matplotlib.style.context(["default", STYLE]):
        layout = ConstrainedLayoutEngine(hspace=0.06, h_pad=0.06)
        figure = Figure(figsize=(WIDTH, sum(heights)), layout=layout)
        axes = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)
        draw(axes.ravel() if len(heights) > 1 else axes[0, 0])
        # Figure.savefig would lay out twice and draw twice.
        layout.execute(figure)
        figure.set_layout_engine("none")
        drawn = StringIO()
        canvas: Any = FigureCanvasSVG(figure)
        canvas.print_svg(drawn, metadata={"Date": None, "Creator": None})
    return Picture(name, _for_page(drawn.getvalue(), name, caption), caption)


def _for_page(svg: str, name: str, caption: str) -> str:
    """Only the drawing: the page's colours and font, names of its own, no fixed size."""
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
