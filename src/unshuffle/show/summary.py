"""The summary of a fit: verdict, facts, and coefficients beside those of ordinary least squares."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from ..inference.intervals import Estimates
from ..inference.match_model import MatchModel
from ..inference.verdict import Verdict, headline
from ..io.frames import make_frame
from ..io.html import html_table
from ..io.visible import visible
from .markup import number, p_value
from .text_table import terminal_width, text_table, wrapped

JOINED = (6, 8, 9)  # upper ends stay beside lower ends; what is as given stays together
COLUMNS = ("coef", "std err", "t", "p", "low", "high")


@dataclass(frozen=True, eq=False)
class Summary:
    """Verdict and coefficients of a fit, as text, HTML, LaTeX, data frame or dictionary.

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
    match_model : MatchModel or None
        Who is mismatched, where clues were given.
    """

    names: list[str]
    ours: Estimates
    as_given: Estimates | None
    facts: dict[str, str]
    verdict: Verdict | None
    level: float = 0.95
    library: str | None = None
    match_model: MatchModel | None = None

    @property
    def _tables(self) -> dict[str, Estimates]:
        tables = {"unshuffle": self.ours}
        return tables if self.as_given is None else tables | {"as given": self.as_given}

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers: verdict, facts, and one entry per coefficient."""
        columns = {title: _columns(table, self.level) for title, table in self._tables.items()}
        clues = {} if self.match_model is None else {"match_model": self.match_model.to_dict()}
        return clues | {
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
        return latex_table(*self._cells())

    def __str__(self) -> str:
        width = terminal_width()
        lines = [] if self.verdict is None else _verdict_lines(self.verdict, width)
        for name, value in self.facts.items():
            lines += wrapped(f"{name}: {value}", width, 2)
        heads, rows = self._cells()
        rows = [[visible(name), *cells] for name, *cells in rows]
        clues = [] if self.match_model is None else [str(self.match_model)]
        return "\n".join([*lines, *text_table(heads, rows, width, joined=JOINED), *clues])

    def _repr_html_(self) -> str:
        parts = []
        if self.verdict is not None:
            parts = [self.verdict._repr_html_()]
        facts = "; ".join(f"{escape(name)}: {escape(value)}" for name, value in self.facts.items())
        clues = "" if self.match_model is None else self.match_model._repr_html_()
        return "".join([*parts, f"<p>{facts}</p>", html_table(*self._cells()), clues])

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
        table.values, table.known_errors(), table.t_values(), table.p_values(),
        interval[:, 0], interval[:, 1],
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))


def _verdict_lines(verdict: Verdict, width: int | None) -> list[str]:
    lines = [f"Verdict: {verdict.level}", *wrapped(headline(verdict), width, 0)]
    for reason in verdict.reasons:
        lines += wrapped(f"  {reason.level:<9}{reason.text}", width, 11)
        if reason.advice:
            lines += wrapped(f"{'':11}What to do: {reason.advice}", width, 11)
    return lines


def _number(value: float, column: str) -> str:
    if column == "p":
        return p_value(value)
    return number(value, ".2f" if column == "t" else ".4g")


def latex_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A booktabs table; the first column stands left."""
    lines = [r"\begin{tabular}{l" + "r" * (len(heads) - 1) + "}", r"\toprule"]
    lines += [" & ".join(_latex(head) for head in heads) + r" \\", r"\midrule"]
    lines += [" & ".join(_latex(cell) for cell in row) + r" \\" for row in rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _latex(cell: str) -> str:
    for character in "&%$#_{}":
        cell = cell.replace(character, "\\" + character)
    return cell.replace("<", "$<$")
