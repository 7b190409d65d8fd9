"""The sections of a report."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...inference.verdict import Reason, headline
from ..markup import (
    Cell,
    Column,
    definitions,
    number,
    p_value,
    shorten,
    sortable_table,
    text,
)
from ..settings import ShowSettings
from .facts import DataFacts, versions
from .pictures import as_svg, figures_of, leading
from .rows import FitRows

MARKS = {"trust": "✓", "caution": "!", "reject": "✕", "none": "–"}
NO_VERDICT = "Only ShuffledRegressor checks its fits, so this one has no verdict."
PAIRINGS = {
    "known": "The order of the labels is known, so this is ordinary least squares.",
    "mostly-right": "The order of the labels was taken to be mostly right.",
    "lost": "The order of the labels was taken to be lost; the fit starts from the {start}.",
}
FILTER = (
    '<div class="filters"><label>Find row or group <input type="search" id="find" '
    'autocomplete="off"></label><output id="shown"></output></div>'
)
WITHOUT_MATPLOTLIB = 'Figures need matplotlib: pip install "unshuffle[plots]"'


def verdict(model: Any, lead_on: str = "") -> str:
    """The verdict, what follows from it and what to do next, and every reason with its advice."""
    found = getattr(model, "verdict_", None)
    level = "none" if found is None else found.level
    word = "No verdict" if found is None else level.capitalize()
    lead = NO_VERDICT if found is None else headline(found)
    start = getattr(model, "start_", "")
    start = "best match found" if start == "match" else f"{start}, without a match"
    pairing = PAIRINGS.get(getattr(model, "pairing_", ""), "").format(start=start)
    reasons = "".join(_reason(reason) for reason in (() if found is None else found.reasons))
    return (
        f'<div class="verdict {level}"><p class="word"><span class="mark" aria-hidden="true">'
        f'{MARKS[level]}</span> {word}</p><div><p class="lead">{text(lead, 300)}</p>'
        f"<p>{text(pairing, 300)}</p>{lead_on}</div></div>"
        + (f'<ul class="reasons">{reasons}</ul>' if reasons else "")
    )


def _reason(reason: Reason) -> str:
    advice = f'<p class="advice"><b>What to do:</b> {_sentence(reason.advice)}</p>'
    return (
        f'<li class="{reason.level}"><p class="check"><span class="mark" aria-hidden="true">'
        f"{MARKS[reason.level]}</span> {text(_capital(reason.check))} "
        f'<span class="level">{reason.level}</span></p><p>{_sentence(reason.text)}</p>'
        f"{advice if reason.advice else ''}</li>"
    )


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _sentence(words: str) -> str:
    return text(f"{_capital(words)}.", 500)


def coefficients(model: Any, names: Sequence[str], limits: ShowSettings) -> str:
    """The fit beside least squares on the labels as given."""
    chosen, note = leading(model, limits.most_coefficients)
    note = f"<p>{note}</p>" if note else ""
    columns = [Column("Feature", number=False), Column("Coefficient")]
    if not hasattr(model, "standard_errors_"):
        rows = [[Cell(names[j]), Cell(number(model.coef_[j]))] for j in chosen]
        if model.fit_intercept:
            rows.insert(0, [Cell("(intercept)"), Cell(number(model.intercept_))])
        return note + sortable_table(columns, rows, name="coefficients", caption="Coefficients")
    summary = model.summary()
    ends = [f"{0.5 - summary.level / 2:.1%}", f"{0.5 + summary.level / 2:.1%}"]
    columns += [Column(title) for title in ("Std. error", *ends, "p")]
    over = [("", 1), ("This fit", 5)]
    found = _estimates(summary.ours, summary.level)
    if summary.as_given is not None:
        columns += [Column(title) for title in ("Coefficient", "Std. error", "p")]
        over.append(("Least squares on the labels as given", 3))
        value, error, _, _, p = _estimates(summary.as_given, summary.level)
        found += [value, error, p]
    first = len(summary.names) - len(names)  # the intercept, where there is one
    lines = [*range(first), *(first + j for j in chosen)]
    rows = [[Cell(summary.names[k]), *(column[k] for column in found)] for k in lines]
    table = sortable_table(columns, rows, name="coefficients", caption="Coefficients", over=over)
    facts = {_capital(title): value for title, value in summary.facts.items()}
    return definitions(facts) + note + table + match_model(model)


def match_model(model: Any) -> str:
    """Clue, coefficient and standard error, where clues were given."""
    found = getattr(model, "match_model_", None)
    if found is None:
        return ""
    columns = [Column("Clue", number=False), *map(Column, ("Coefficient", "Std. error", "p"))]
    rows = [
        [Cell(name), Cell(number(coef)), Cell(number(error)), _p_cell(p)]
        for name, coef, error, p in zip(
            found.names, found.coef, found.standard_errors, found.p_values(), strict=True
        )
    ]
    caption = "Match model: logit of the probability that a label is the row's own"
    return sortable_table(columns, rows, name="match-model", caption=caption)


def _estimates(found: Any, level: float) -> list[list[Cell]]:
    """Columns of coefficient, standard error, ends of the interval and p-value."""
    interval = found.interval(level)
    numbers = [found.values, found.standard_errors, interval[:, 0], interval[:, 1]]
    return [*map(_numbers, numbers), [_p_cell(value) for value in found.p_values()]]


def _p_cell(value: float) -> Cell:
    return Cell(p_value(value), value if value < 0.001 else None)  # "<.001" hides the order


def pictures(model: Any, data: DataFacts, rows: FitRows, limits: ShowSettings) -> str:
    """Every figure, or how to get them where matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        return f"<p>{text(WITHOUT_MATPLOTLIB)}</p>"
    return "".join(
        f'<figure id="picture-{figure.name}">{as_svg(figure, limits.picture_width)}'
        f"<figcaption>{text(figure.caption, 500)}</figcaption></figure>"
        for figure in figures_of(model, data, rows, limits)
    )


def matches(model: Any, data: DataFacts, rows: FitRows, limits: ShowSettings) -> str:
    """Rows and their most likely labels, where no label was given beside a row."""
    columns = _match_columns(model, data, np.arange(data.n_rows)[: limits.most_matches])
    cells = list(zip(*(values for _, values in columns), strict=True))
    sizes = np.cumsum([sum(len(text(cell.text)) + 5 for cell in line) for line in cells])
    cells = cells[: np.searchsorted(sizes, limits.most_match_characters)]
    n_all, n_shown = f"{data.n_rows:,}", f"{len(cells):,}"
    note = f"All {n_all} rows" if n_all == n_shown else f"{n_shown} of {n_all} rows"
    note += ", in their own order, counted from 1."
    return f"<p>{note}</p>{FILTER}" + sortable_table(
        [column for column, _ in columns], cells, name="matches", caption="Rows and their labels"
    )


def _match_columns(model: Any, data: DataFacts, listed: Any) -> list[tuple[Column, Iterable[Cell]]]:
    columns: list[tuple[Column, Iterable[Cell]]] = [(Column("Row"), _counted(listed))]
    if data.row_names is not None:
        columns.append((Column("Id", number=False), _names(data.row_names, listed)))
    if data.group_names is not None:
        columns.append((Column("Group", number=False), _names(data.group_names, listed)))
    if hasattr(model, "expected_labels_"):
        columns.append((Column("Expected label"), _numbers(model.expected_labels_[listed])))
        likely = model.permutation_[listed]
        columns.append((Column("Most likely label number"), _counted(likely)))
        if data.partner_names is not None:
            columns.append((Column("Its id", number=False), _names(data.partner_names, likely)))
    return columns


def _counted(rows: Any) -> list[Cell]:
    """Numbers of rows as people count them, from 1; -1 is nobody."""
    return [Cell("nobody" if row < 0 else str(row + 1)) for row in rows]


def _names(names: Sequence[object], rows: Any) -> list[Cell]:
    return [Cell("nobody" if row < 0 else str(names[row])) for row in rows]


def _numbers(values: Any) -> list[Cell]:
    return [Cell(number(value)) for value in values]


def data_facts(data: DataFacts, limits: ShowSettings) -> str:
    """Where the data came from, and what was used of them."""
    facts: dict[str, object] = {
        "Source": data.source,
        "Rows": f"{data.n_rows:,}",
        "Groups": f"{data.n_groups:,}",
        "Rows with a known label": f"{data.n_known:,}",
        "Label": data.label,
        "Group column": data.group,
    }
    if data.columns:
        shown = ", ".join(shorten(name, 60) for name in data.columns[: limits.most_names])
        more = len(data.columns) - limits.most_names
        shown += f" and {more:,} more" if more > 0 else ""
        facts[f"Features ({len(data.columns):,})"] = shown
    return definitions({title: value for title, value in facts.items() if value})


def settings(model: Any, given: Mapping[str, object] | None) -> str:
    """Parameters of the estimator, further settings, and versions."""
    chosen = {
        name: shorten(repr(value), 200) for name, value in model.get_params(deep=False).items()
    }
    parts = [f"<h3>{text(type(model).__name__)}</h3>", definitions(chosen)]
    if given:
        parts += ["<h3>Further settings</h3>", definitions(given)]
    return "".join([*parts, "<h3>Versions</h3>", definitions(versions())])


def code(given: str) -> str:
    """Python that repeats the fit, with a button that copies it."""
    return (
        '<div class="code"><button type="button" id="copy">Copy</button>'
        f'<pre tabindex="0" aria-label="Python code"><code id="code">{text(given, 20_000)}'
        "</code></pre></div>"
    )
