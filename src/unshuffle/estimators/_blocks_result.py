"""The result of comparing slopes between and within blocks: numbers, sentence, tables."""

from dataclasses import dataclass
from html import escape
from math import isinf, isnan
from typing import Any, Literal

from ..inference.block_tests import Factor
from ..inference.intervals import Estimates
from ..io.frames import make_frame
from ..io.html import html_table
from ..io.visible import visible
from ..show.markup import number

Finding = Literal["no sign", "unclear", "exchange", "other difference"]
# The order in which columns are shown: what needs action first.
ORDER: tuple[Finding, ...] = ("exchange", "other difference", "unclear", "no sign")
LOOKS_ALIKE = (
    "errors of measurement in the features, and block means that have an effect of their own, can "
    "look the same"
)


@dataclass(frozen=True, eq=False)
class BlockCheck:
    """Slopes between and within the blocks of one column.

    Attributes
    ----------
    column : str
        Name of the column.
    finding : {"no sign", "unclear", "exchange", "other difference"}
        "exchange": slopes within are weaker by one common factor, as labels exchanged inside
        blocks would make them. "other difference": slopes differ in a way that an exchange does not
        explain. "unclear": no sign, but the interval of the factor reaches below a half.
    factor : Factor
        Slopes within as a multiple of those between: `value`, and an interval from `low` to `high`.
        One minus this is an estimate of the share of rows whose labels were exchanged.
    p_weaker, adjusted_p_weaker : float
        Of equal slopes, against slopes within that are one factor in [0, 1) times those between.
        Adjusted: by Holm's method for the number of columns.
    p_equal, adjusted_p_equal : float
        Of equal slopes, against any difference.
    p_common : float
        Of one common factor for all features; nan for one feature, which always has one.
    features : list of str
        Features compared: those that vary both between and within blocks.
    between, within : Estimates
        Slopes (`values`) with robust `standard_errors`, one for each of `features`.
    n_rows, n_blocks, n_alone : int
        Rows, blocks, and blocks of one row, which take part between blocks only.
    level : float
        Of the interval; a p-value below one minus this is a sign.
    """

    column: str
    finding: Finding
    factor: Factor
    p_weaker: float
    adjusted_p_weaker: float
    p_equal: float
    adjusted_p_equal: float
    p_common: float
    features: list[str]
    between: Estimates
    within: Estimates
    n_rows: int
    n_blocks: int
    n_alone: int
    level: float

    @property
    def text(self) -> str:
        """One sentence."""
        ratio = f"slopes within blocks are {self.factor.value:.2f} times those between"
        numbers = f"({self._interval()}; {_p(self.adjusted_p_weaker)})"
        if self.finding == "exchange":
            return f"{ratio} {numbers}: labels may have been exchanged inside blocks"
        if self.finding == "other difference":
            common = "" if isnan(self.p_common) else f"; one common factor: {_p(self.p_common)}"
            return (
                f"slopes within and between blocks differ ({_p(self.adjusted_p_equal)}{common}), "
                "in a way that an exchange of labels inside blocks does not explain"
            )
        if self.finding == "unclear":
            return (
                f"no sign of labels exchanged inside blocks, but these data could hardly show one: "
                f"{ratio} {numbers}"
            )
        return f"no sign of labels exchanged inside blocks: {ratio} {numbers}"

    def _interval(self) -> str:
        low, high, share = self.factor.low, self.factor.high, f"{100.0 * self.level:g} %"
        if isinf(low) and isinf(high):
            return f"the {share} interval has no ends"
        return f"{share} interval {low:.2f} to {high:.2f}"

    @property
    def advice(self) -> str:
        """What to do; empty where there is nothing."""
        groups = f"groups={visible(self.column)}"
        return {
            "exchange": f"fit with {groups}, and ask how labels could have moved; {LOOKS_ALIKE}",
            "other difference": "ask why: means of blocks may have an effect of their own; add "
            "them to the features, or one indicator for each block",
            "unclear": f"if labels may have moved inside blocks, fit with {groups} as well and "
            "compare",
            "no sign": "",
        }[self.finding]

    def to_frame(self) -> Any:
        """A pandas data frame with one line per feature."""
        return make_frame(self._slopes(), "pandas")

    def _slopes(self) -> dict[str, Any]:
        return {
            "feature": self.features,
            "between": self.between.values,
            "between std err": self.between.standard_errors,
            "within": self.within.values,
            "within std err": self.within.standard_errors,
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and sentences."""
        columns = self._slopes()
        names = columns.pop("feature")
        return {
            "column": self.column,
            "finding": self.finding,
            "text": self.text,
            "advice": self.advice,
            "factor": self.factor._asdict(),
            **{name: getattr(self, name) for name in TESTS},
            "rows": self.n_rows,
            "blocks": self.n_blocks,
            "blocks_of_one_row": self.n_alone,
            "slopes": {
                name: {head: float(values[k]) for head, values in columns.items()}
                for k, name in enumerate(names)
            },
        }

    def lines(self) -> list[str]:
        """Text for a screen."""
        alone = f", {self.n_alone} of them of one row" if self.n_alone else ""
        found = [
            f"{visible(self.column)}: {self.finding}",
            f"  {self.text[0].upper()}{self.text[1:]}.",
            *([f"  What to do: {self.advice}."] if self.advice else []),
            f"  {self.n_rows} rows in {self.n_blocks} blocks{alone}.",
        ]
        heads, rows = self._cells()
        rows = [[visible(name), *cells] for name, *cells in rows]
        widths = [max(len(line[k]) for line in [heads, *rows]) for k in range(len(heads))]
        for line in [heads, *rows]:
            cells = [line[0].ljust(widths[0])]
            cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
            found.append("  " + "  ".join(cells).rstrip())
        return found

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        columns = self._slopes()
        names = columns.pop("feature")
        heads = ["", "between", "std err", "within", "std err"]
        numbers = zip(*columns.values(), strict=True)
        return heads, [[n, *map(number, line)] for n, line in zip(names, numbers, strict=True)]

    def _repr_html_(self) -> str:
        advice = f" <i>What to do: {escape(self.advice)}.</i>" if self.advice else ""
        sentence = f"<p><b>{escape(self.column)}: {self.finding}.</b> {escape(self.text)}.{advice}"
        return f"{sentence}</p>{html_table(*self._cells())}"


TESTS = ("p_weaker", "adjusted_p_weaker", "p_equal", "adjusted_p_equal", "p_common")


@dataclass(frozen=True, eq=False)
class BlocksResult:
    """Slopes between and within blocks, for one column or several.

    Attributes
    ----------
    checks : tuple of BlockCheck
        One for each column: signs of an exchange first, and then by their p-values.
    """

    checks: tuple[BlockCheck, ...]

    @property
    def finding(self) -> Finding:
        """That of the first column."""
        return self.checks[0].finding

    @property
    def factor(self) -> Factor:
        """That of the first column."""
        return self.checks[0].factor

    @property
    def p_value(self) -> float:
        """The first column's test for weaker slopes within blocks, adjusted."""
        return self.checks[0].adjusted_p_weaker

    @property
    def text(self) -> str:
        """The sentence of the first column."""
        return f"{self.checks[0].column}: {self.checks[0].text}"

    def __getitem__(self, column: str) -> BlockCheck:
        """The check of a column, by name."""
        for check in self.checks:
            if check.column == column:
                return check
        raise KeyError(
            f"{column!r} was not checked; {[check.column for check in self.checks]} were"
        )

    def to_frame(self) -> Any:
        """A pandas data frame with one line per column of blocks."""
        columns: dict[str, Any] = {
            "column": [check.column for check in self.checks],
            "finding": [check.finding for check in self.checks],
            "blocks": [check.n_blocks for check in self.checks],
            "factor": [check.factor.value for check in self.checks],
            "low": [check.factor.low for check in self.checks],
            "high": [check.factor.high for check in self.checks],
        }
        columns |= {name: [getattr(check, name) for check in self.checks] for name in TESTS}
        return make_frame(columns, "pandas")

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and sentences: one entry per column."""
        return {"finding": self.finding, "columns": [check.to_dict() for check in self.checks]}

    def __str__(self) -> str:
        return "\n\n".join("\n".join(check.lines()) for check in self.checks)

    def _repr_html_(self) -> str:
        return "".join(check._repr_html_() for check in self.checks)


def _p(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"
