"""What an experiment leaves on disk, written so that a kill leaves the old file or the new one."""

import json
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd

from .. import __version__
from ..io.files import write_atomically
from .experiment import Experiment


@dataclass(frozen=True)
class Shelf:
    """The folder of results: one csv, png, svg and json per experiment.

    The json is written last and says with what settings the others were made; an experiment
    whose json says the same as the present settings is finished.
    """

    folder: Path

    def prepare(self) -> None:
        """Make the folder and make sure it can be written to."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self.folder / ".probe", b"")
        (self.folder / ".probe").unlink()

    def stamp(self, experiment: Experiment) -> dict[str, Any] | None:
        """With what settings the experiment was run, or None if it was not finished."""
        try:
            stamp: dict[str, Any] = json.loads(self._path(experiment, "json").read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        complete = all(self._path(experiment, kind).exists() for kind in ("csv", "png", "svg"))
        return stamp if complete else None

    def is_finished(self, experiment: Experiment, settings: Any, seed: int) -> bool:
        """Whether these very settings are on the shelf."""
        stamp = self.stamp(experiment)
        return stamp is not None and stamp["made with"] == _made_with(settings, seed)

    def keep(
        self, experiment: Experiment, settings: Any, seed: int, table: pd.DataFrame, seconds: float
    ) -> None:
        """Write table and pictures, then the stamp."""
        figure = experiment.draw(table)
        self._write(experiment, "csv", table.to_csv(index=False).encode())
        for kind in ("png", "svg"):
            picture = BytesIO()
            figure.savefig(picture, format=kind, dpi=110)
            self._write(experiment, kind, picture.getvalue())
        stamp = {"made with": _made_with(settings, seed), "seconds": round(seconds, 1)}
        self._write(experiment, "json", json.dumps(stamp, indent=1).encode())

    def table(self, experiment: Experiment) -> pd.DataFrame:
        """The tidy table of a finished experiment."""
        return pd.read_csv(self._path(experiment, "csv"))

    def picture(self, experiment: Experiment) -> bytes:
        """The picture of a finished experiment, as PNG."""
        return self._path(experiment, "png").read_bytes()

    def _path(self, experiment: Experiment, kind: str) -> Path:
        return self.folder / f"{experiment.name}.{kind}"

    def _write(self, experiment: Experiment, kind: str, content: bytes) -> None:
        write_atomically(self._path(experiment, kind), content)


def _made_with(settings: Any, seed: int) -> dict[str, Any]:
    facts = {"settings": asdict(settings), "seed": seed, "version": __version__}
    plain: dict[str, Any] = json.loads(json.dumps(facts))  # tuples become lists, as in the file
    return plain
