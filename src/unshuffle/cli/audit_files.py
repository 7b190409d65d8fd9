"""What `unshuffle audit --out` writes: a page, and tables of the groups and rows at risk."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..io.marks import header_of
from ..io.outputs import FileKind, FolderKind, Output
from ..io.tables.write import as_csv
from ..io.visible import visible
from ..show.report.audit_page import AUDIT_PAGE, build_audit_page

if TYPE_CHECKING:
    from ..estimators.audit import AuditResult
    from ..io.tables import FitTable

ZONES = ["group", "rows", "found", "by_guessing", "exposed", "hidden_by_no_shuffle"]
ROWS = ["row", "group", "label", "found", "exposed", "confidence", "followed"]
NAMED_ROWS = ["row", "id", *ROWS[1:]]
AUDIT = FolderKind(
    "an audit",
    {
        "report.html": AUDIT_PAGE,
        "zones.csv": FileKind("a list of groups", lambda path: header_of(path) == ZONES),
        "rows.csv": FileKind(
            "a list of rows at risk", lambda path: header_of(path) in (ROWS, NAMED_ROWS)
        ),
    },
)


def write_audit(result: "AuditResult", rows: "FitTable", labels: Any, folder: Output) -> list[Path]:
    """Page and tables into a folder that appears as a whole."""
    zones, at_risk = zone_table(result), row_table(result, rows, labels)
    worst = {name: [zones[name][k] for k in _exposed(zones)] for name in ZONES}
    page = build_audit_page(
        result, label=visible(rows.label), source=visible(rows.table.title), zones=worst,
        rows=at_risk,
    )  # fmt: skip
    with folder.replacing() as part:
        (part / "report.html").write_text(page, encoding="utf-8")
        (part / "zones.csv").write_bytes(as_csv(zones))
        (part / "rows.csv").write_bytes(as_csv(at_risk))
        names = sorted(path.name for path in part.iterdir())
    return [folder.path / name for name in names]


def zone_table(result: "AuditResult") -> dict[str, Any]:
    """All groups, those with most exposed rows first."""
    order = sorted(result.zones, key=lambda zone: -np.nan_to_num(zone.exposed) * zone.n_rows)
    lines = [
        (z.name, z.n_rows, z.found, z.by_guessing, z.exposed, "yes" if z.is_open else "no")
        for z in order
    ]
    return {name: [line[j] for line in lines] for j, name in enumerate(ZONES)}


def row_table(result: "AuditResult", rows: "FitTable", labels: Any) -> dict[str, Any]:
    """The rows at risk, counted from 1 as in the file and with their ids, the surest first."""
    risks = result.rows
    assert risks is not None
    chosen = np.flatnonzero(risks.at_risk)
    chosen = chosen[np.lexsort((chosen, -risks.confidence[chosen], -risks.exposed[chosen]))]
    groups = ["" for _ in chosen] if rows.groups is None else rows.groups[chosen].tolist()
    columns = (
        (rows.table.rows[chosen] + 1).tolist(), groups, np.asarray(labels)[chosen].tolist(),
        risks.found[chosen].tolist(), risks.exposed[chosen].tolist(),
        risks.confidence[chosen].tolist(), risks.followed[chosen].tolist(),
    )  # fmt: skip
    listed = dict(zip(ROWS, columns, strict=True))
    if rows.ids is None:
        return listed
    listed["id"] = rows.ids[chosen].tolist()
    return {name: listed[name] for name in NAMED_ROWS}


def _exposed(zones: dict[str, Any]) -> list[int]:
    return [k for k, share in enumerate(zones["exposed"]) if share > 0.0]
