"""Rates of mismatches as they are typed: a number or an audit, of all rows or per stratum."""

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from .options import COLUMNS, FIT

if TYPE_CHECKING:
    from ..inference.audited_rate import Audit
    from ..io.tables import FitTable

STRATUM, CHECKED, WRONG = "stratum", "checked", "wrong"
# How tables are told from audits that are typed; the endings that a file of counts may have.
TABLES = (".csv", ".tsv", ".gz", ".bz2", ".zst", ".xlsx", ".parquet")
PER_STRATUM = "such as --audit north=21/300,south=4/250 or --mismatch-rate north=0.07,south=0.02"

Strata = Annotated[
    str | None,
    typer.Option(
        "--strata", rich_help_panel=COLUMNS,
        help="Column of strata that have rates of mismatches of their own, given by --audit or "
        r"--mismatch-rate per stratum.  \[default: those of --group]",
    ),
]  # fmt: skip
Audited = Annotated[
    str | None,
    typer.Option(
        "--audit", metavar="WRONG/CHECKED", rich_help_panel=FIT,
        help="Links that were drawn at random and checked, such as 21/300: the rate of mismatches "
        "and its uncertainty. Per stratum: north=21/300,south=4/250, or a table with the columns "
        "stratum, checked and wrong.",
    ),
]  # fmt: skip
MismatchRate = Annotated[
    str | None,
    typer.Option(
        "--mismatch-rate", metavar="RATE", rich_help_panel=FIT,
        help="Rate of mismatches that is known, such as 0.07. Per stratum: north=0.07,south=0.02.",
    ),
]  # fmt: skip


class TypedRates(NamedTuple):
    """Options about rates of mismatches, as they were typed.

    Attributes
    ----------
    audit, mismatch_rate, strata : str or None
        Counts, rates, and the column of strata.
    """

    audit: str | None = None
    mismatch_rate: str | None = None
    strata: str | None = None

    @property
    def given(self) -> dict[str, str]:
        """Options that were given."""
        return {name: value for name, value in self._asdict().items() if value is not None}

    @property
    def file(self) -> Path | None:
        """The table of audits, where they stand in one."""
        return None if self.audit is None or not _is_table(self.audit) else Path(self.audit)

    def check(self) -> None:
        """Refuse what cannot be meant before the table of the fit is read."""
        if self.strata is not None and self.audit is None and self.mismatch_rate is None:
            raise ValueError(
                f"--strata {self.strata} has no rates: give one per stratum, {PER_STRATUM}"
            )
        rates = _read(self) if self.given else {}
        if isinstance(rates, dict):
            return
        if self.strata is not None:
            raise ValueError(
                f"--strata {self.strata} needs a rate for each stratum, {PER_STRATUM}; one rate "
                "for all rows is given"
            )
        if rates == 0.0:
            raise ValueError("--mismatch-rate 0 leaves nothing to exchange; use --pairing known")

    def for_all_rows(self) -> Any:
        """The one rate that families of labels take."""
        rates = _read(self)
        if isinstance(rates, dict):
            raise ValueError(
                "rates per stratum are for normal labels without weights and offsets; give one "
                "--audit or --mismatch-rate of all rows, or probabilities of a match (--match-prob)"
            )
        return rates

    def refuse_passes(self) -> None:
        """Where a fit reads its data in passes."""
        if self.given:
            options = ", ".join("--" + name.replace("_", "-") for name in self.given)
            verb = "is" if len(self.given) == 1 else "are"
            raise ValueError(f"{options} {verb} not for data that are read in passes; fit a sample")


def rate_given(typed: TypedRates, rows: "FitTable") -> dict[str, Any]:
    """Arguments of an estimator, and of its `fit`, from the rates that were typed.

    Returns
    -------
    given : dict
        `mismatch_rate`, which may be a mapping; and then `strata`, where they are not the groups.
    """
    rates = _read(typed)
    if not isinstance(rates, dict):
        return {"mismatch_rate": rates}
    strata = rows.groups if rows.strata is None else rows.strata
    if strata is None:
        raise ValueError(
            "rates per stratum need the stratum of each row: name its column by --strata (or "
            "--group, where labels moved inside strata only)"
        )
    _check_names(rates, list(dict.fromkeys(map(str, strata))), typed.strata or rows.group)
    return {"mismatch_rate": rates} | ({} if rows.strata is None else {"strata": strata})


def match_prob_of(typed: TypedRates, rows: "FitTable") -> Any:
    """Probability of a match of each row by the rates typed, whose uncertainty is left out."""
    import numpy as np

    from ..estimators._rates import stratum_rates
    from ..fits.audited import rate_of

    given = rate_given(typed, rows)
    rate = given["mismatch_rate"]
    if isinstance(rate, dict):
        return stratum_rates(rate, len(rows.y), rows.groups, given.get("strata")).match_prob
    return np.full(len(rows.y), 1.0 - rate_of(rate))


def _read(typed: TypedRates) -> Any:
    """One rate, or a dictionary of rates by stratum."""
    found: list[Any] = []
    if typed.audit is not None:
        found.append(
            _read_table(Path(typed.audit))
            if _is_table(typed.audit)
            else _parse(typed.audit, "--audit", _audit)
        )
    if typed.mismatch_rate is not None:
        found.append(_parse(typed.mismatch_rate, "--mismatch-rate", _number))
    if len(found) == 1:
        return found[0]
    audits, known = found
    if not (isinstance(audits, dict) and isinstance(known, dict)):
        raise ValueError(
            "--audit and --mismatch-rate both give the rate of all rows; leave out one of them, or "
            "give both per stratum"
        )
    twice = [name for name in known if name in audits]
    if twice:
        raise ValueError(f"stratum {twice[0]!r} is in --audit and in --mismatch-rate; choose one")
    return audits | known


def _is_table(text: str) -> bool:
    return text.lower().endswith(TABLES) and not re.search(r"=\s*\d+\s*/\s*\d+\s*$", text)


def _parse(text: str, option: str, read: Callable[[str], Any]) -> Any:
    """One value, or a dictionary of values by stratum where there are signs of equality."""
    if "=" not in text:
        return _named(option, text, read)
    try:
        parts = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:  # a line end inside
        parts = []
    found: dict[str, Any] = {}
    for part in parts or [text]:
        name, sign, value = (piece.strip() for piece in part.rpartition("="))
        if not (sign and name and value):
            raise ValueError(
                f"{option} per stratum is a list of stratum=value with commas, {PER_STRATUM}; got "
                f"{part.strip()!r}"
            )
        if name in found:
            raise ValueError(f"{option} names the stratum {name!r} twice; keep one")
        found[name] = _named(f"{option} {name}={value}", value, read)
    return found


def _named(option: str, text: str, read: Callable[[str], Any]) -> Any:
    """Read a value; errors name the option, and the stratum where there is one."""
    try:
        return read(text)
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from error


def _audit(text: str) -> "Audit":
    from ..inference.audited_rate import parse_audit

    return parse_audit(text)


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < 1.0:
        raise ValueError(f"a rate is a number from 0 to below 1, such as 0.07; got {text!r}")
    return value


def _read_table(path: Path) -> dict[str, "Audit"]:
    """Audits from a table with one line per stratum."""
    from ..inference.audited_rate import Audit
    from ..io.tables import open_table

    source = open_table(path)
    missing = [name for name in (STRATUM, CHECKED, WRONG) if name not in source.names]
    if missing:
        from ..exceptions import TableError

        raise TableError(
            path, f"has no column {missing[0]!r}; audits per stratum have the columns {STRATUM}, "
            f"{CHECKED} and {WRONG}",
        )  # fmt: skip
    table = source.read([STRATUM, CHECKED, WRONG], [STRATUM], [CHECKED, WRONG])
    found: dict[str, Audit] = {}
    counts = zip(table.numbers(CHECKED).tolist(), table.numbers(WRONG).tolist(), strict=True)
    for line, (checked, wrong) in enumerate(counts):
        name = str(table.columns[STRATUM][line])
        if name in found:
            raise table.error(f"the stratum {name!r} is here twice; keep one line", line, STRATUM)
        try:
            found[name] = Audit(_whole(checked), _whole(wrong))
        except ValueError as error:
            raise table.error(str(error), line, CHECKED) from error
    return found


def _whole(number: float) -> Any:
    return int(number) if number == round(number) else number


def _check_names(rates: dict[str, Any], there: list[str], column: str) -> None:
    """Rates and strata must be about the same names."""
    from ..io.tables.roles import nearest, shown

    unknown = [name for name in rates if name not in there]
    if unknown:
        near = nearest(unknown[0], there)
        hint = f" (did you mean {near!r}?)" if near else ""
        raise ValueError(
            f"a rate is given for {unknown[0]!r}{hint}, which is no stratum in the column "
            f"{column!r}; it has: {shown(there)}"
        )
    missing = [name for name in there if name not in rates]
    if missing:
        raise ValueError(
            f"{len(missing)} of {len(there)} strata in the column {column!r} have no rate: "
            f"{shown(missing)}; add them to --audit or --mismatch-rate"
        )
