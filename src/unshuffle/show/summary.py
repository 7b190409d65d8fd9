"""The table people paste: coefficients beside those of least squares on the labels as given."""

from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from ..inference.intervals import Estimates
from ..inference.verdict import Reason, Verdict
from ..io.frames import make_frame

COLUMNS = ("coef", "std err", "t", "p", "low", "high")
COLOURS = {"trust": "#1b7837", "caution": "#7d5700", "reject": "#b2182b"}


@dataclass(frozen=True, eq=False)
class Summary:
    """What a fit found and how far it can be trusted.

    Print it, or look at it in a notebook; `to_frame`, `to_latex` and `to_dict` hand it on.

    Attributes
    ----------
    names : list of str
        Intercept (when there is one) and features.
    ours, as_given : Estimates
        The fit, and least squares on the labels as given (None after `fit_unpaired`).
    facts : dict
        Noise, rate of mismatches, rows, groups, method.
    verdict : Verdict or None
    level : float
        Of the intervals.
    library : str or None
        Data frame library of `to_frame`: "pandas" (or None), "polars" or "pyarrow".
    """

    names: list[str]
    ours: Estimates
    as_given: Estimates | None
    facts: dict[str, str]
    verdict: Verdict | None
    level: float = 0.95
    library: str | None = None
    _tables: dict[str, Estimates] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        tables = {"unshuffle": self.ours}
        if self.as_given is not None:
            tables["as given"] = self.as_given
        object.__setattr__(self, "_tables", tables)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers: verdict, facts, and one entry per coefficient."""
        columns = {title: _columns(table, self.level) for title, table in self._tables.items()}
        return {
            "verdict": None if self.verdict is None else self.verdict.level,
            "reasons": [] if self.verdict is None else [r.text for r in self.verdict.reasons],
            "facts": dict(self.facts),
            "coefficients": {
                name: {
                    title: {c: float(values[c][k]) for c in COLUMNS}
                    for title, values in columns.items()
                }
                for k, name in enumerate(self.names)
            },
        }

    def to_columns(self) -> dict[str, Any]:
        """One list of names and one array per column of `to_frame`, flat."""
        columns: dict[str, Any] = {"coefficient": list(self.names)}
        for title, table in self._tables.items():
            for column, values in _columns(table, self.level).items():
                columns[f"{title} {column}" if title != "unshuffle" else column] = values
        return columns

    def to_frame(self) -> Any:
        """A data frame with one line per coefficient.

        Of the library that the data of the fit came in. pandas, which is also taken for arrays,
        has the names as index and columns (table, column); polars and pyarrow have neither, so
        that the names are a column and the others are flat.
        """
        if self.library not in {None, "pandas"}:
            return make_frame(self.to_columns(), self.library)
        import pandas as pd

        columns = {
            (title, column): values
            for title, table in self._tables.items()
            for column, values in _columns(table, self.level).items()
        }
        return pd.DataFrame(columns, index=pd.Index(self.names, name="coefficient"))

    def to_latex(self) -> str:
        """A booktabs table."""
        heads, rows = self._cells()
        lines = [r"\begin{tabular}{l" + "r" * (len(heads) - 1) + "}", r"\toprule"]
        lines.append(" & ".join(_latex(head) for head in heads) + r" \\")
        lines.append(r"\midrule")
        lines += [" & ".join(_latex(cell) for cell in row) + r" \\" for row in rows]
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])

    def __str__(self) -> str:
        heads, rows = self._cells()
        widths = [max(len(line[k]) for line in [heads, *rows]) for k in range(len(heads))]
        wide = sum(widths) + 2 * (len(widths) - 1)
        lines = []
        if self.verdict is not None:
            lines = [f"Verdict: {self.verdict.level}"]
            lines += [f"  {_mark(r.level)} {r.text}" for r in self.verdict.reasons]
        lines += [f"{name}: {value}" for name, value in self.facts.items()]
        lines += ["=" * wide, _line(heads, widths), "-" * wide]
        lines += [_line(row, widths) for row in rows]
        return "\n".join([*lines, "=" * wide])

    def _repr_html_(self) -> str:
        heads, rows = self._cells()
        parts = []
        if self.verdict is not None:
            colour = COLOURS[self.verdict.level]
            # White on colour reads the same in light and dark notebooks.
            badge = f"background:{colour};color:#fff;padding:2px 10px;border-radius:10px"
            parts.append(f'<p><b style="{badge}">{escape(self.verdict.level)}</b></p><ul>')
            parts += [f"<li>{_with_advice(reason)}</li>" for reason in self.verdict.reasons]
            parts.append("</ul>")
        facts = "; ".join(f"{escape(name)}: {escape(value)}" for name, value in self.facts.items())
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
        )
        head = "".join(f"<th>{escape(head)}</th>" for head in heads)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return "".join([*parts, f"<p>{facts}</p>", table])

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        tables = [_columns(table, self.level) for table in self._tables.values()]
        ends = {"low": f"[{0.5 - self.level / 2:.3g}", "high": f"{0.5 + self.level / 2:.3g}]"}
        heads = ["", *(ends.get(c, c) for c in COLUMNS)]
        if self.as_given is not None:
            heads += ["as given", "std err", "p"]
        rows = []
        for k, name in enumerate(self.names):
            row = [name, *(_number(tables[0][c][k], c) for c in COLUMNS)]
            if self.as_given is not None:
                row += [_number(tables[1][c][k], c) for c in ("coef", "std err", "p")]
            rows.append(row)
        return heads, rows


def _columns(table: Estimates, level: float) -> dict[str, Any]:
    interval = table.interval(level)
    values = (
        table.values, table.standard_errors, table.t_values(), table.p_values(),
        interval[:, 0], interval[:, 1],
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))


def _number(value: float, column: str) -> str:
    if np.isnan(value):
        return "-"
    if column == "p":
        return "<.001" if value < 0.001 else f"{value:.3f}"
    return f"{value:.2f}" if column == "t" else f"{value:.4g}"


def _line(cells: list[str], widths: list[int]) -> str:
    first = cells[0].ljust(widths[0])
    return "  ".join([first, *(c.rjust(w) for c, w in zip(cells[1:], widths[1:], strict=True))])


def _with_advice(reason: Reason) -> str:
    advice = f" <i>What to do: {escape(reason.advice)}</i>" if reason.advice else ""
    return f"{escape(reason.text)}.{advice}"


def _mark(level: str) -> str:
    return {"trust": "+", "caution": "?", "reject": "!"}[level]


def _latex(cell: str) -> str:
    for character in "&%$#_{}":
        cell = cell.replace(character, "\\" + character)
    return cell.replace("<", "$<$")
