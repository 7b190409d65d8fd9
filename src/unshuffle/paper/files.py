"""What an experiment leaves on disk, written so that a kill leaves the old file or the new one."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd

from .. import __version__
from ..io.marks import is_page_by, starts_with
from ..io.outputs import FileKind, Output, Outputs
from .experiment import Experiment

PAGE = "index.html"
MADE_WITH = {"settings", "seed", "version"}


def is_complete(stamp: Any) -> bool:
    """Whether a JSON document is the stamp of a finished experiment."""
    if not isinstance(stamp, dict) or stamp.keys() != {"made with", "seconds"}:
        return False
    made = stamp["made with"]
    known = isinstance(made, dict) and made.keys() == MADE_WITH
    return known and stamp["seconds"] is not None


is_stamp = starts_with(b'{\n "made with": {\n  "settings": ')


def is_stamped(path: Path) -> bool:
    """Whether the stamp of an experiment stands beside one of its files."""
    return is_stamp(path.with_suffix(".json"))


STAMPED = FileKind("part of an experiment", is_stamped)
KINDS = {
    "json": FileKind("the record of an experiment", is_stamp),
    "csv": STAMPED,
    "png": STAMPED,
    "svg": STAMPED,
}
REPRODUCTION = FileKind("a reproduction", is_page_by("unshuffle reproduction"))


@dataclass(frozen=True)
class Shelf:
    """The folder of results: one csv, png, svg and json per experiment.

    The json says with what settings the others are made. It is written first, without a time, so
    that they are known as ours, and again when they are there; an experiment whose json has a time
    and says the same as the present settings is finished.
    """

    folder: Path
    inputs: tuple[Path, ...] = ()
    force: bool = False

    def prepare(self, experiments: Iterable[Experiment]) -> None:
        """Make the folder; refuse it where files of others would be replaced."""
        outputs = Outputs(self.inputs, force=self.force)
        for experiment in experiments:
            for ending, kind in KINDS.items():
                outputs.claim(self._path(experiment, ending), kind)
        outputs.claim(self.folder / PAGE, REPRODUCTION)
        self.folder.mkdir(parents=True, exist_ok=True)

    def stamp(self, experiment: Experiment) -> dict[str, Any] | None:
        """With what settings the experiment was run, or None if it was not finished."""
        try:
            stamp: dict[str, Any] = json.loads(self._path(experiment, "json").read_text())
        except (FileNotFoundError, ValueError, RecursionError):
            return None
        complete = all(self._path(experiment, kind).exists() for kind in ("csv", "png", "svg"))
        return stamp if complete and is_complete(stamp) else None

    def is_finished(self, experiment: Experiment, settings: Any, seed: int) -> bool:
        """Whether these very settings are on the shelf."""
        stamp = self.stamp(experiment)
        return stamp is not None and stamp["made with"] == _made_with(settings, seed)

    def keep(
        self, experiment: Experiment, settings: Any, seed: int, table: pd.DataFrame, seconds: float
    ) -> None:
        """Write table and pictures, and the stamp before and after them."""
        figure = experiment.draw(table)
        stamp: dict[str, Any] = {"made with": _made_with(settings, seed), "seconds": None}
        self._write(experiment, "json", json.dumps(stamp, indent=1).encode())
        self._write(experiment, "csv", table.to_csv(index=False).encode())
        for kind in ("png", "svg"):
            picture = BytesIO()
            figure.savefig(picture, format=kind, dpi=110)
            self._write(experiment, kind, picture.getvalue())
        stamp["seconds"] = round(seconds, 1)
        self._write(experiment, "json", json.dumps(stamp, indent=1).encode())

    def table(self, experiment: Experiment) -> pd.DataFrame:
        """The tidy table of a finished experiment."""
        return pd.read_csv(self._path(experiment, "csv"))

    def picture(self, experiment: Experiment) -> bytes:
        """The picture of a finished experiment, as PNG."""
        return self._path(experiment, "png").read_bytes()

    def write_page(self, page: str) -> None:
        """Write the page about all experiments."""
        output = Output(self.folder / PAGE, REPRODUCTION, self.inputs, self.force)
        output.write(page.encode())

    def _path(self, experiment: Experiment, kind: str) -> Path:
        return self.folder / f"{experiment.name}.{kind}"

    def _write(self, experiment: Experiment, kind: str, content: bytes) -> None:
        path = self._path(experiment, kind)
        Output(path, KINDS[kind], self.inputs, self.force).write(content)


def _made_with(settings: Any, seed: int) -> dict[str, Any]:
    return {"settings": plain_settings(settings), "seed": seed, "version": __version__}


def plain_settings(settings: Any) -> dict[str, Any]:
    """Settings as a file gives them back: tuples become lists."""
    plain: dict[str, Any] = json.loads(json.dumps(asdict(settings)))
    return plain
