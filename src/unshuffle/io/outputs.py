"""The one rule about what may be written where, for every command and every checkpoint.

An output is new, or it carries our mark, or the user has asked for it to be replaced. It is never
something that the same call reads: not by another path, a symbolic link or a hard link, and not
inside a folder that would be replaced. Links, devices and folders that hold anything else than
files with our names are never replaced.
"""

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..exceptions import OutputError
from .files import recover, replacing, replacing_folder, write_atomically
from .parts import remove_abandoned

CURE = "choose another name"


@dataclass(frozen=True)
class FileKind:
    """A kind of file that we write.

    Attributes
    ----------
    title : str
        What it is, with its article.
    is_ours : callable or None
        Whether a file carries our mark; reads little of it. None for a kind without a mark.
    """

    title: str
    is_ours: Callable[[Path], bool] | None = None

    def problem(self, path: Path) -> str | None:
        """Why a file that exists is not surely ours; None if it is."""
        if self.is_ours is None:
            return "exists"
        try:
            ours = self.is_ours(path)
        except (OSError, ValueError):  # what cannot be read is not ours
            ours = False
        return None if ours else f"exists and is not {self.title} of unshuffle"


@dataclass(frozen=True)
class FolderKind:
    """A folder that we write: the kinds of its files by their names."""

    title: str
    files: Mapping[str, FileKind]


@dataclass(frozen=True)
class Output:
    """Where a call writes.

    Attributes
    ----------
    path : Path
    kind : FileKind or FolderKind
    inputs : tuple of Path
        What the same call reads.
    force : bool
        Whether the user has asked for anything that is there to be replaced.
    """

    path: Path
    kind: FileKind | FolderKind
    inputs: tuple[Path, ...] = ()
    force: bool = False

    def check(self) -> None:
        """Refuse an output that would replace what it must not; see the top of this module."""
        place = locate(self.path)
        _check_parents(self.path, place)
        if isinstance(self.kind, FolderKind):
            recover(place)
        try:
            facts = place.lstat()
        except FileNotFoundError:
            return
        _check_inputs(self.path, facts, self.inputs)
        if stat.S_ISLNK(facts.st_mode):
            raise OutputError(self.path, f"is a symbolic link; {CURE}, or the file it points to")
        if isinstance(self.kind, FolderKind):
            self._check_folder(self.kind, place, facts)
        else:
            self._check_file(self.kind, place, facts)

    @contextmanager
    def replacing(self) -> Iterator[Path]:
        """Give a path to write to; what is written there takes its place in one step."""
        self.check()
        replace = replacing_folder if isinstance(self.kind, FolderKind) else replacing
        with replace(locate(self.path), self.check) as part:
            yield part

    def write(self, content: bytes) -> None:
        """Write a whole file in one step."""
        self.check()
        write_atomically(locate(self.path), content, self.check)

    def _check_file(self, kind: FileKind, place: Path, facts: os.stat_result) -> None:
        if not stat.S_ISREG(facts.st_mode):
            what = "a folder" if stat.S_ISDIR(facts.st_mode) else "no regular file"
            raise OutputError(self.path, f"is {what}; {CURE}")
        problem = None if self.force else kind.problem(place)
        if problem is not None:
            raise OutputError(self.path, f"{problem}; {CURE} or remove it", forcible=True)

    def _check_folder(self, kind: FolderKind, place: Path, facts: os.stat_result) -> None:
        if not stat.S_ISDIR(facts.st_mode):
            raise OutputError(self.path, f"is not a folder; {CURE}")
        if Path.cwd().is_relative_to(place):
            raise OutputError(self.path, "holds the working folder; choose a new folder")
        inside = [Path(os.path.realpath(path)) for path in self.inputs]
        if any(path.is_relative_to(place) for path in inside):
            raise OutputError(self.path, "holds what is read; choose a new folder")
        for file in sorted(place.iterdir()):
            found = file.lstat()
            _check_inputs(self.path / file.name, found, self.inputs)
            if file.name not in kind.files or not stat.S_ISREG(found.st_mode):
                raise OutputError(
                    self.path,
                    f"holds {file.name!r}, which would be lost; choose a new or empty folder",
                )
            problem = None if self.force else kind.files[file.name].problem(file)
            if problem is not None:
                raise OutputError(
                    self.path / file.name,
                    f"{problem}; choose a new or empty folder",
                    forcible=True,
                )
        if not os.access(place, os.W_OK):
            raise PermissionError(13, "cannot be written to", str(self.path))


class Outputs:
    """The outputs of one call: each is checked, and none may be inside another.

    Parameters
    ----------
    inputs : sequence of Path
        What the call reads.
    force : bool
        Whether the user has asked for anything that is there to be replaced.
    """

    def __init__(self, inputs: Sequence[Path] = (), *, force: bool = False) -> None:
        self.inputs, self.force = tuple(inputs), force
        self._claimed: list[Path] = []

    def claim(self, path: Path, kind: FileKind | FolderKind) -> Output:
        """Check an output and return it; removes what killed processes left beside it."""
        place = locate(path)
        for other in self._claimed:
            if place.is_relative_to(other) or other.is_relative_to(place):
                raise OutputError(path, f"is also asked for as {other}; {CURE}")
        output = Output(path, kind, self.inputs, self.force)
        output.check()
        remove_abandoned(place.parent)
        self._claimed.append(place)
        return output


def locate(path: Path) -> Path:
    """The absolute path, with links resolved in all but the last name."""
    if path.name in {"", ".."}:
        return Path(os.path.realpath(path))
    return Path(os.path.realpath(path.parent)) / path.name


def _check_inputs(path: Path, facts: os.stat_result, inputs: Sequence[Path]) -> None:
    for read in inputs:
        try:
            same = os.path.samestat(facts, read.stat()) or path.samefile(read)
        except OSError:  # the reader reports it
            continue
        if same:
            raise OutputError(path, f"is read by the same call and never overwritten; {CURE}")


def _check_parents(path: Path, place: Path) -> None:
    """Refuse a place that cannot be made, before anything is computed."""
    for folder in place.parents:
        try:
            facts = folder.stat()
        except FileNotFoundError:
            continue
        if not stat.S_ISDIR(facts.st_mode):
            raise NotADirectoryError(20, f"{folder} is not a folder; {CURE}", str(path))
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(13, f"{folder} cannot be written to", str(path))
        return
