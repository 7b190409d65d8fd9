"""What commands print and write: text for people, JSON for programs, files for both."""

import json
import math
import shlex
import sys
import warnings
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from .. import __version__
from ..io.visible import visible
from .errors import REJECTED
from .notes import dropped_rows
from .screen import say, say_json
from .unmatched import describe_unmatched, has_nobody, matches_with_nobody

if TYPE_CHECKING:
    from ..io.outputs import Output
    from ..io.tables import FitTable
    from .fitting import Fitted


def report(fitted: "Fitted", folder: "Output | None", *, as_json: bool, quiet: bool) -> None:
    """Print and write a fit; a rejected one ends with its exit code."""
    written = [] if folder is None else write_fit(fitted, folder)
    print_notes(fitted, quiet or as_json)
    if as_json:
        print_json(describe(fitted) | {"files": written})
    else:
        print_fit(fitted)
        print_files(written)
    if fitted.rejected:
        raise typer.Exit(REJECTED)


def describe(fitted: "Fitted") -> dict[str, Any]:
    """A fit in plain numbers, for ``--json``."""
    model, rows = fitted.model, fitted.rows
    return {
        "unshuffle": __version__,
        "data": str(rows.table.path.with_name(rows.table.title)),
        "label": rows.label,
        **model.summary().to_dict(),
        "advice": [reason.advice for reason in model.verdict_.reasons if reason.advice],
        "pairing": model.pairing_,
        "rows": len(rows.X),
        "groups": model.n_groups_,
        "dropped": dropped_rows(rows),
        "noise": model.noise_scale_,
        "mismatch_rate": getattr(model, "mismatch_rate_", None),
        **describe_unmatched(model),
        "converged": model.converged_,
        "settings": fitted.settings,
        "notes": fitted.notes,
    }


def print_json(document: dict[str, Any]) -> None:
    """One document on standard output; what is not a finite number is null."""
    say_json(json.dumps(_plain(document), indent=1, ensure_ascii=False, allow_nan=False))


def print_fit(fitted: "Fitted") -> None:
    """Verdict with reasons and advice, facts and coefficients."""
    verdict = fitted.model.verdict_
    text = str(fitted.model.summary())
    colour = {"trust": "green", "caution": "yellow", "reject": "red"}[verdict.level]
    first, _, rest = text.partition("\n")
    say(first, colour=colour)
    say(rest)


def print_notes(fitted: "Fitted", quiet: bool) -> None:
    """The warnings of a fit, on standard error."""
    for note in [] if quiet else fitted.notes:
        say(f"note: {note}", err=True)


def print_files(paths: Iterable[Path | None]) -> None:
    """Name the files that were written."""
    for path in filter(None, paths):
        say(f"Written: {path}")


def write_fit(fitted: "Fitted", folder: "Output") -> list[Path]:
    """Model, summary, matches and report into a folder that appears as a whole."""
    from ..io.tables.write import as_csv

    def write_rest(part: Path) -> None:
        (part / "matches.csv").write_bytes(as_csv(matches(fitted)))
        write_report(fitted, part / "report.html")

    rows = fitted.rows
    return write_folder(
        fitted.model, folder, write_rest, label=rows.label, columns=rows.columns,
        settings={**fitted.settings, "data": visible(rows.table.title)},
    )  # fmt: skip


def write_folder(
    model: Any, folder: "Output", write_rest: Callable[[Path], None] | None = None, **kept: Any
) -> list[Path]:
    """Model and summary, and what `write_rest` adds, into a folder that appears as a whole."""
    from ..fits.model_files import write_model
    from ..io.tables.write import as_csv

    with folder.replacing() as part:
        write_model(model, part, **kept)
        (part / "summary.csv").write_bytes(as_csv(model.summary().to_columns()))
        if write_rest is not None:
            write_rest(part)
        names = sorted(path.name for path in part.iterdir())
    return [folder.path / name for name in names]


def matches(fitted: "Fitted") -> dict[str, Any]:
    """For each row, counted from 1, its probable label and how probable the one given is."""
    model, rows = fitted.model, fitted.rows
    if has_nobody(model):
        return matches_with_nobody(fitted)
    likely, partner_ids = model.permutation_, rows.partner_ids
    numbers = rows.row_numbers
    table: dict[str, Any] = {"row": numbers}
    if rows.ids is not None:
        table["id"] = rows.ids
    if not rows.unpaired:
        table |= {rows.label: rows.y, "match_probability": model.match_proba_}
    table["likely_partner"] = likely + 1 if rows.unpaired else numbers[likely]
    if partner_ids is not None:
        table["likely_partner_id"] = partner_ids[likely]
    table[f"likely_{rows.label}"] = rows.y[likely]
    return table


def list_suspects(fitted: "Fitted", threshold: float) -> dict[str, Any]:
    """Rows that probably do not hold their own label, counted from 1, and their partners."""
    model, rows = fitted.model, fitted.rows
    table = model._suspects(threshold, 0)
    partners, shares = model.likely_partners(table["row"], 1)
    named = (partners[:, 0] >= 0) & (table["kind"] == "mismatched")
    columns: dict[str, Any] = {"row": table["row"] + 1}
    if rows.ids is not None:
        columns["id"] = rows.ids[table["row"]]
    columns |= {
        rows.label: table["label"],
        "kind": table["kind"],
        "match_probability": table["match_proba"],
        "partner": np.where(named, partners[:, 0] + 1, -1),
    }
    if rows.ids is not None:
        columns["partner_id"] = np.where(named, rows.ids[partners[:, 0]], "")
    columns["partner_probability"] = np.where(named, shares[:, 0], np.nan)
    return columns


def moves(fitted: "Fitted") -> list[dict[str, Any]]:
    """Rows, counted from 1, whose label comes from another one, and from which."""
    ids, likely = fitted.rows.ids, fitted.model.permutation_
    found = []
    for row in np.flatnonzero(likely != np.arange(len(likely))):
        move = {"row": row + 1, "label_from": likely[row] + 1}
        if ids is not None:
            move |= {"id": ids[row], "label_from_id": ids[likely[row]]}
        found.append(move)
    return found


def _row_names(rows: "FitTable", *, partners: bool = False) -> list[str] | None:
    """Names of rows: ids, or the rows of the file where some of these were left out."""
    ids = rows.partner_ids if partners else rows.ids
    if ids is not None:
        return [str(name) for name in ids]
    if rows.unpaired or rows.table.missing is None:
        return None
    return [f"row {number}" for number in rows.row_numbers]


def write_report(fitted: "Fitted", path: Path) -> None:
    """The page for a browser; without matplotlib it has no pictures, and says how to get them."""
    if find_spec("matplotlib") is None:
        fitted.notes.append(
            'figures in report.html need matplotlib: pip install "unshuffle[plots]"'
        )
    from ..show.report import DataFacts, build_report
    from ..show.report.code import repeating_code

    rows = fitted.rows
    data = DataFacts(
        source=visible(rows.table.title),
        n_rows=len(rows.X),
        n_groups=fitted.model.n_groups_,
        n_known=0 if rows.known is None else int(rows.known.sum()),
        columns=tuple(rows.names),
        label=rows.label,
        group=rows.group,
        row_names=_row_names(rows),
        group_names=None if rows.groups is None else rows.groups.tolist(),
        partner_names=_row_names(rows, partners=True),
        positions=None if rows.positions is None else rows.positions.tolist(),
        records={name: rows.table.columns[name] for name in rows.recorded},
        strata=fitted.settings.get("strata", ""),
    )
    title = visible(f"{rows.label} in {rows.table.title}")
    with warnings.catch_warnings():
        # A letter that the font of the pictures does not have is shown as a box.
        warnings.filterwarnings("ignore", r"Glyph \d+ ")
        page = build_report(
            fitted.model,
            data=data,
            settings=fitted.settings,
            title=title,
            code=repeating_code(fitted.model, data, visible(_command())),
        )
    path.write_text(page, encoding="utf-8")


def _command() -> str:
    """The command as it was typed; empty where Python called it."""
    program = Path(sys.argv[0])
    typed = program.stem == "unshuffle" or program.parent.name == "unshuffle"
    return shlex.join(["unshuffle", *sys.argv[1:]]) if typed else ""


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic | np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value
