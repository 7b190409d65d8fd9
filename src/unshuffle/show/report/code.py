"""Python that repeats a fit."""

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from .facts import DataFacts

READERS = {
    ".csv": "read_csv", ".tsv": "read_table", ".parquet": "read_parquet", ".xlsx": "read_excel",
}  # fmt: skip
# Before this version pandas read some numbers off by the last digit, unless asked not to, and the
# fit would be off as well; from it on the question is deprecated.
EXACT_SINCE = (3, 1)
TEXT = ("read_csv", "read_table")


def repeating_code(model: Any, data: DataFacts, command: str = "") -> str:
    """The whole program: imports, data, fit and summary.

    `command` is the line of the shell that made the fit, where there was one. Where the data came
    from no file that pandas reads, their names stand for them.
    """
    name = type(model).__name__
    lines = [f"# In a shell: {command}"] if command else []
    reader = _reader(data)
    named = bool(reader and data.label)
    lines += ["import pandas as pd"] if named else []
    audited = "Audit, " if "Audit(" in repr(model) else ""
    lines += [f"from unshuffle import {audited}{name}", ""]
    if named:
        lines += [
            f"table = pd.{reader}({data.source!r}{_exactly(reader)})",
            f"X, y = table[{list(_columns(data))!r}], table[{data.label!r}]",
        ]
    else:
        lines += [f"# X: {data.n_rows} rows of {_count(data)} features; y: their labels"]
    lines += [f"model = {model!r}", f"model.fit({', '.join(_arguments(model, data, named))})"]
    lines += ["print(model.summary())"]
    if getattr(model, "random_state", 0) is None:
        lines += ["# random_state was None: each run draws other numbers; give one to repeat a fit"]
    return "\n".join(lines)


def _reader(data: DataFacts) -> str | None:
    """The function of pandas for the file, compressed or not; None for other sources."""
    plain = data.source.removesuffix(".gz").removesuffix(".bz2").removesuffix(".zst")
    return next((READERS[end] for end in READERS if plain.endswith(end)), None)


def _exactly(reader: str | None) -> str:
    """Further argument of a reader of text, where the pandas that is installed needs it."""
    try:
        installed = tuple(int(part) for part in version("pandas").split(".")[:2])
    except (PackageNotFoundError, ValueError):  # not there, or a version of another form
        return ""
    asks = reader in TEXT and installed < EXACT_SINCE
    return ', float_precision="round_trip"' if asks else ""


def _columns(data: DataFacts) -> dict[str, None]:
    """Columns of the file, each once; a category has several terms, as in ``arm[T.b]``."""
    return dict.fromkeys(name.partition("[")[0] for name in data.columns)


def _count(data: DataFacts) -> str:
    return str(len(data.columns)) if data.columns else "your"


def _arguments(model: Any, data: DataFacts, named: bool) -> list[str]:
    """What the fit was given."""
    given = ["X", "y"]
    if data.group and named:
        given.append(f"groups=table[{data.group!r}]")
    elif data.n_groups > 1:
        given.append("groups=groups")
    if data.n_known:
        given.append("known=known")
    if isinstance(getattr(model, "mismatch_rate", None), Mapping):
        # A table that the command line reads has text in its strata, also where they are numbers.
        column = data.strata or data.group
        if named and column:
            given.append(f"strata=table[{column!r}].astype(str)")
        elif not named:
            given.append("strata=strata")
    elif getattr(getattr(model, "_found", None), "match_prob", None) is not None:
        given.append("match_prob=match_prob")
    return given
