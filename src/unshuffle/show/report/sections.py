"""What stands in a report, part by part."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...inference.verdict import Reason
from .facts import DataFacts, versions
from .markup import Cell, Column, definitions, number, p_value, table, text
from .pictures import draw_all, leading

MOST_MATCHES = 2000
MOST_COEFFICIENTS = 500
MOST_CHARACTERS = 350_000  # of the matches, so that long names do not swell the page
MOST_NAMES = 100

SAID = {
    "trust": ("Trust", "Nothing that was measured speaks against this fit."),
    "caution": ("Caution", "Read the reasons below before using these coefficients."),
    "reject": ("Reject", "Do not use these coefficients."),
    "none": (
        "No verdict",
        "Only ShuffledRegressor compares its fit with chance, so nothing here says "
        "whether this one can be trusted.",
    ),
}
MARKS = {"trust": "✓", "caution": "!", "reject": "✕", "none": "–"}
PAIRINGS = {
    "known": "The order of the labels is known, so this is ordinary least squares.",
    "mostly-right": "The order of the labels was taken to be right in part.",
    "lost": "The order of the labels was taken to be lost",
}
FOLLOWED = "; the fit follows the best match that was found."
WITHOUT_MATPLOTLIB = 'Pictures need matplotlib: pip install "unshuffle[plots]"'


def verdict(model: Any) -> str:
    """The verdict in words, and every reason with its number, its threshold and its advice."""
    judged = getattr(model, "verdict_", None)
    level = "none" if judged is None else judged.level
    word, sentence = SAID[level]
    kind = getattr(model, "pairing_", "")
    pairing = PAIRINGS.get(kind, "")
    if kind == "lost":
        begun = f"; no match was followed, and the fit began from the {model.start_}."
        pairing += FOLLOWED if model.start_ == "match" else begun
    reasons = () if judged is None else judged.reasons
    listed = "".join(_reason(reason) for reason in reasons)
    return (
        f'<div class="verdict {level}"><p class="word"><span class="mark" aria-hidden="true">'
        f'{MARKS[level]}</span> {word}</p><div><p class="lead">{text(sentence, 300)}</p>'
        f"<p>{text(pairing, 300)}</p></div></div>"
        + (f'<ul class="reasons">{listed}</ul>' if listed else "")
    )


def _reason(reason: Reason) -> str:
    advice = f'<p class="advice"><b>What to do:</b> {text(_sentence(reason.advice), 500)}</p>'
    measured = "not measured" if np.isnan(reason.value) else number(reason.value)
    return (
        f'<li class="{reason.level}"><p class="check"><span class="mark" aria-hidden="true">'
        f"{MARKS[reason.level]}</span> {text(reason.check[:1].upper() + reason.check[1:])} "
        f'<span class="level">{reason.level}</span></p>'
        f"<p>{text(_sentence(reason.text), 500)}</p>"
        f'<p class="numbers">Measured <b>{measured}</b> · threshold <b>{number(reason.threshold)}'
        f"</b></p>{advice if reason.advice else ''}</li>"
    )


def _sentence(words: str) -> str:
    """A capital at the beginning, and a full stop unless there is another end."""
    return f"{words[:1].upper()}{words[1:]}{'' if words.endswith(('.', '?')) else '.'}"


def coefficients(model: Any, names: Sequence[str]) -> str:
    """The fit beside least squares on the labels as given."""
    chosen = leading(model, MOST_COEFFICIENTS)
    note = ""
    if len(chosen) < len(names):
        note = (
            f"<p>The {len(chosen):,} clearest of {len(names):,} coefficients are listed"
            f"{', and the intercept' if model.fit_intercept else ''}.</p>"
        )
    if not hasattr(model, "standard_errors_"):
        rows = [[Cell(names[j]), Cell(number(model.coef_[j]))] for j in chosen]
        if model.fit_intercept:
            rows.insert(0, [Cell("(intercept)"), Cell(number(model.intercept_))])
        columns = [Column("Feature", number=False), Column("Coefficient")]
        return note + table(columns, rows, name="coefficients", caption="Coefficients")
    summary = model.summary()
    columns = [
        Column("Feature", number=False),
        *(Column(title) for title in ("Coefficient", "Std. error", "95 % from", "to", "p")),
    ]
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
    facts = definitions(summary.facts)
    return (
        facts + note + table(columns, rows, name="coefficients", caption="Coefficients", over=over)
    )


def _estimates(found: Any, level: float) -> list[list[Cell]]:
    """Columns of coefficient, standard error, ends of the interval and p-value."""
    interval = found.interval(level)
    numbers = [found.values, found.standard_errors, interval[:, 0], interval[:, 1]]
    columns = [[Cell(number(value)) for value in column] for column in numbers]
    return [*columns, [p_value(value) for value in found.p_values()]]


def pictures(model: Any, data: DataFacts) -> str:
    """Every picture, or how to get them where matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        return f"<p>{text(WITHOUT_MATPLOTLIB)}</p>"
    return "".join(
        f'<figure id="picture-{picture.name}">{picture.svg}'
        f"<figcaption>{text(picture.caption, 500)}</figcaption></figure>"
        for picture in draw_all(model, data)
    )


def matches(model: Any, data: DataFacts) -> str:
    """Rows with their labels and match probabilities, the most doubtful first."""
    proba = getattr(model, "match_proba_", None)
    n_rows = data.n_rows
    rows = np.arange(n_rows) if proba is None else np.argsort(proba, kind="stable")
    rows = rows[:MOST_MATCHES]
    columns = _match_columns(model, data, rows)
    cells = list(zip(*(values for _, values in columns), strict=True))
    sizes = np.cumsum([sum(len(text(cell.text)) + 5 for cell in line) for line in cells])
    cells = cells[: np.searchsorted(sizes, MOST_CHARACTERS)]
    order = "in their own order" if proba is None else "the most doubtful first"
    shown = f"All {n_rows:,} rows" if len(cells) == n_rows else f"{len(cells):,} of {n_rows:,} rows"
    note = f"{shown}, {order}."
    if data.row_names is None:
        note += " Rows are counted from 0."
    return f"<p>{note}</p>{_filters(proba is not None)}" + table(
        [column for column, _ in columns], cells, name="matches", caption="Matches"
    )


def _filters(with_probability: bool) -> str:
    parts = ['<label>Find row or group <input type="search" id="find" autocomplete="off"></label>']
    if with_probability:
        options = "".join(
            f'<option value="{limit}">{title}</option>'
            for limit, title in (("2", "any"), ("0.5", "below 0.5"), ("0.9", "below 0.9"))
        )
        parts.append(f'<label>Match probability <select id="limit">{options}</select></label>')
    return f'<div class="filters">{"".join(parts)}<output id="shown"></output></div>'


def _match_columns(model: Any, data: DataFacts, rows: Any) -> list[tuple[Column, Iterable[Cell]]]:
    names = data.row_names
    columns: list[tuple[Column, Iterable[Cell]]] = [
        (Column("Row", number=names is None), _names(names, rows))
    ]
    pairing = getattr(model, "_pairing", None)
    if data.group_names is not None:
        columns.append((Column("Group", number=False), _names(data.group_names, rows)))
    elif pairing is not None and pairing.problem.n_blocks > 1:
        columns.append((Column("Group"), _block_numbers(pairing.problem, rows)))
    told = hasattr(model, "match_proba_")
    if told:
        column = Column("Match probability")
        columns.append((column, [Cell(f"{value:.4f}") for value in model.match_proba_[rows]]))
    if told and pairing is not None:
        labels = pairing.problem.restore(pairing.problem.y)[rows]
        columns.append((Column("Label given"), [Cell(number(value)) for value in labels]))
    if hasattr(model, "expected_labels_"):
        expected = model.expected_labels_[rows]
        columns.append((Column("Expected label"), [Cell(number(value)) for value in expected]))
        holds = _names(names if told else None, model.permutation_[rows])
        title = "Likely label: from row" if told else "Likely label: number"
        columns.append((Column(title, number=not told or names is None), holds))
    return columns


def _names(names: Sequence[object] | None, rows: Any) -> list[Cell]:
    return [Cell(str(row) if names is None else str(names[row])) for row in rows]


def _block_numbers(problem: Any, rows: Any) -> list[Cell]:
    """Number of each row's group among those in which labels can move."""
    arranged = problem.arranged_rows(rows)
    numbers = np.searchsorted(problem.starts, arranged, side="right") - 1
    return [Cell("–" if k == problem.n_blocks else str(k)) for k in numbers]


def understood(data: DataFacts) -> str:
    """The data as they were understood, and what was left out."""
    facts: dict[str, object] = {"Source": data.source} if data.source else {}
    facts |= {"Rows": f"{data.n_rows:,}", "Groups": f"{data.n_groups:,}"}
    facts["Rows that surely hold their own label"] = f"{data.n_known:,}"
    for title, name in (("Label", data.label), ("Group column", data.group)):
        if name:
            facts[title] = name
    if data.columns:
        facts[f"Features ({len(data.columns):,})"] = _list(data.columns)
    parts = [definitions(facts)]
    left_out = [[Cell("column"), Cell(n), Cell(why)] for n, why in data.dropped_columns.items()]
    left_out += [[Cell("rows"), Cell(f"{n:,}"), Cell(why)] for why, n in data.dropped_rows.items()]
    if left_out:
        columns = [Column(title, number=False) for title in ("Left out", "Which", "Why")]
        parts.append(table(columns, left_out, name="dropped", caption="Left out"))
    else:
        parts.append("<p>Nothing was left out.</p>")
    return "".join(parts)


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(
        text_ if len(text_) <= 60 else f"{text_[:59]}…" for text_ in names[:MOST_NAMES]
    )
    more = len(names) - MOST_NAMES
    return f"{shown} and {more:,} more" if more > 0 else shown


def settings(model: Any, given: Mapping[str, object] | None) -> str:
    """Parameters of the estimator, what else was set, and versions."""
    chosen = {name: _short(value) for name, value in model.get_params(deep=False).items()}
    parts = [f"<h3>{text(type(model).__name__)}</h3>", definitions(chosen)]
    if given:
        parts += ["<h3>Further settings</h3>", definitions(given)]
    return "".join([*parts, "<h3>Versions</h3>", definitions(versions())])


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 200 else f"{shown[:199]}…"


def code(model: Any, given: str | None) -> str:
    """Python that repeats the fit."""
    if given is None:
        name = type(model).__name__
        given = (
            f"from unshuffle import {name}\n\nmodel = {model!r}\n"
            "model.fit(X, y)  # add groups=, known= and match_prob= as they were given"
        )
    return (
        '<div class="code"><button type="button" id="copy">Copy</button>'
        f'<pre tabindex="0" aria-label="Python code"><code id="code">{text(given, 20_000)}'
        "</code></pre></div>"
    )
