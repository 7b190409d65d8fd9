"""Names of columns: every one has a name, and one of its own."""

from collections.abc import Sequence
from pathlib import Path

from ...exceptions import TableError
from .cells import NUMBER


def check_header(path: Path, names: Sequence[str], place: str) -> None:
    """The first row must name the columns, each by a name of its own."""
    if len(names) > 1 and all(NUMBER.fullmatch(name) for name in names):
        raise TableError(
            path,
            f"holds numbers ({names[0]}, {names[1]}, ...) where the names of the columns "
            "should stand; put a header above them",
            place=place,
        )
    check_names(path, names, place)


def check_names(path: Path, names: Sequence[str], place: str = "") -> None:
    """Every column needs a name of its own."""
    if not names:
        raise TableError(path, "has no columns")
    first: dict[str, int] = {}
    for j, name in enumerate(names):
        if not name:
            raise TableError(path, f"column {j + 1} of {len(names)} has no name", place=place)
        if name in first:
            raise TableError(
                path,
                f"the name {name!r} stands over column {first[name] + 1} and column {j + 1}; "
                "give each column a name of its own",
                place=place,
            )
        first[name] = j
