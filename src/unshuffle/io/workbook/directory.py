"""Where the sheets, texts and styles of a workbook are."""

import posixpath
from collections.abc import Mapping
from typing import NamedTuple

from ...exceptions import TableError
from .archive import CURE, Archive, Part, resolve

ROOT = "_rels/.rels"
USUAL = "xl/workbook.xml"


class Sheet(NamedTuple):
    """A sheet of numbers and texts."""

    title: str
    part: str
    is_visible: bool


class Directory(NamedTuple):
    """The sheets in their order, and the parts of texts and styles; empty where there are none."""

    sheets: tuple[Sheet, ...]
    strings: str
    styles: str


class _Relations(Part):
    """Kind and target of every part that another one points to, by its identifier."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[str, str]] = {}

    def start(self, name: str, values: Mapping[str, str]) -> None:
        if name == "Relationship" and values.get("TargetMode") != "External":
            kind = values.get("Type", "").rpartition("/")[2]
            self.found[values.get("Id", "")] = (kind, values.get("Target", ""))


class _Sheets(Part):
    """Title, identifier and state of every sheet."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str, bool]] = []

    def start(self, name: str, values: Mapping[str, str]) -> None:
        if name == "sheet":
            places = [value for key, value in values.items() if key.endswith(":id")]
            shown = values.get("state", "visible") == "visible"
            self.found.append((values.get("name", ""), "".join(places[:1]), shown))


def read_directory(archive: Archive) -> Directory:
    """Find the parts of a workbook."""
    main = USUAL
    if ROOT in archive:
        relations = _relations(archive, ROOT, "")
        main = next((part for kind, part in relations.values() if kind == "officeDocument"), USUAL)
    folder, name = posixpath.split(main)
    relations = _relations(archive, f"{folder}/_rels/{name}.rels", folder)
    sheets = _Sheets()
    archive.read(main, sheets)
    found = tuple(
        Sheet(title, relations[place][1], shown)
        for title, place, shown in sheets.found
        if place in relations and relations[place][0] == "worksheet"
    )
    if not found:
        raise TableError(archive.path, f"has no sheet with a table; {CURE}")
    parts = {kind: part for kind, part in relations.values() if part in archive}
    return Directory(found, parts.get("sharedStrings", ""), parts.get("styles", ""))


def _relations(archive: Archive, name: str, folder: str) -> dict[str, tuple[str, str]]:
    relations = _Relations()
    archive.read(name, relations)
    return {key: (kind, resolve(target, folder)) for key, (kind, target) in relations.found.items()}
