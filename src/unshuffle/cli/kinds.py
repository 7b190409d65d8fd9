"""What commands write, and how a file of ours is recognised. Loaded when a command runs."""

import re
from pathlib import Path

from ..fits.checkpoint_format import CHECKPOINT
from ..fits.model_files.kinds import FILES
from ..io.marks import header_of, starts_with
from ..io.outputs import FileKind, FolderKind
from ..show.report.builder import REPORT
from ..show.summary import COLUMNS

__all__ = ["CHECKPOINT", "RESULTS", "TRUTH", "TRUTH_MARK"]

TRUTH_MARK = "unshuffle truth"
AS_GIVEN = re.compile("|".join(f".+ {re.escape(column)}" for column in COLUMNS))


def is_summary(path: Path) -> bool:
    """Whether a table has the columns of a summary, and no others."""
    names = header_of(path)
    first = ["coefficient", *COLUMNS]
    return names[: len(first)] == first and all(map(AS_GIVEN.fullmatch, names[len(first) :]))


def is_matches(path: Path) -> bool:
    """Whether a table has the columns of the matches of a fit, and no others."""
    names = header_of(path)
    label = names[-1].removeprefix("likely_") if names else ""
    last, named = ["likely_partner"], ["likely_partner", "likely_partner_id"]
    tables = [
        [*first, *middle, *partner, f"likely_{label}"]
        for first in (["row"], ["row", "id"])
        for middle in ([], [label, "match_probability"])
        for partner in (last, named)
    ]
    # A label may be called as another column is; the columns then are one.
    return bool(names) and names in [list(dict.fromkeys(table)) for table in tables]


TRUTH = FileKind("a truth", starts_with(f'{{"format": "{TRUTH_MARK}",'.encode()))
RESULTS = FolderKind(
    "a result",
    {
        **FILES,
        "summary.csv": FileKind("a summary", is_summary),
        "matches.csv": FileKind("a list of matches", is_matches),
        "report.html": REPORT,
    },
)
