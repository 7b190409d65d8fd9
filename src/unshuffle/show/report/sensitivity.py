"""The section of a report on what exchanged labels would change."""

from typing import Any, NamedTuple

from ..markup import Cell, Column, sortable_table, text
from ..plots import SensitivityDisplay
from ..settings import ShowSettings
from .pictures import Figure, as_svg, leading

NAME = "sensitivity"
HEADING = "If some labels were exchanged"
SENTENCE = (
    "The coefficients if a given share of the labels was exchanged at random inside groups, by "
    "least squares on averaged features; no law of the noise is assumed."
)
CAPTION = (
    "Line: least squares if that share of the labels was exchanged. Band: 95% interval. Blue: "
    "this fit, at its own rate."
)


class Part(NamedTuple):
    """A section, and the link that leads to it; both empty where there is nothing to show."""

    section: str
    link: str


def sensitivity(model: Any, limits: ShowSettings) -> Part:
    """Coefficients against the rate, where labels were given beside rows and mostly stay there."""
    ordered = getattr(model, "pairing_", None) in {"known", "mostly-right"}
    has_curve = hasattr(model, "match_proba_") and hasattr(model, "mismatch_sensitivity")
    if not ordered or not has_curve:
        return Part("", "")
    try:
        result = model.mismatch_sensitivity()
    except ValueError as reason:  # a loaded model, dependent columns, no label that can move
        inner = f"<p>Not computed: {text(reason, 500)}.</p>"
    else:
        inner = f"<p>{SENTENCE}</p>{_table(model, result, limits)}{_picture(model, result, limits)}"
    return Part(
        f'<section id="{NAME}"><h2>{HEADING}</h2>{inner}</section>\n',
        f'<a href="#{NAME}">Exchanged labels</a> ',
    )


def _table(model: Any, result: Any, limits: ShowSettings) -> str:
    chosen, note = leading(model, limits.most_coefficients)
    first = len(result.names) - len(model.coef_)  # the intercept, where there is one
    lines = result.lines()
    shown = [lines[k] for k in [*range(first), *(first + j for j in chosen)]]
    table = sortable_table(
        [Column("Feature", number=False), *(Column(head.capitalize()) for head in result.heads)],
        [[Cell(value) for value in line] for line in shown],
        name=f"{NAME}-table",
        caption="Coefficients by share of exchanged labels",
    )
    return (f"<p>{note}</p>" if note else "") + table


def _picture(model: Any, result: Any, limits: ShowSettings) -> str:
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        return ""  # the section of figures says how to get them
    chosen, note = leading(model, min(limits.most_panels, limits.most_drawn_coefficients))
    first = len(result.names) - len(model.coef_)
    display = SensitivityDisplay(result, features=[first + j for j in chosen])
    n_columns, height = (1, 3.0) if len(chosen) == 1 else (2, 2.1)
    heights = (height,) * -(-len(chosen) // n_columns)
    figure = Figure(
        NAME, CAPTION + note, heights, lambda axes: _draw(display, axes, n_columns), n_columns
    )
    return (
        f'<div class="pictures"><figure id="picture-{NAME}">{as_svg(figure, limits.picture_width)}'
        f"<figcaption>{text(figure.caption, 500)}</figcaption></figure></div>"
    )


def _draw(display: SensitivityDisplay, axes: Any, n_columns: int) -> None:
    """On the first panels of a grid; what is left over is taken away."""
    every = list(getattr(axes, "flat", [axes]))
    n_panels = len(display.features)
    display.plot(ax=every[:n_panels])
    for panel in every[: n_panels - n_columns]:
        panel.set_xlabel("")  # the panel below has it
    for number, panel in enumerate(every[:n_panels]):
        if number % n_columns:
            panel.set_ylabel("")
    for spare in every[n_panels:]:
        spare.remove()
