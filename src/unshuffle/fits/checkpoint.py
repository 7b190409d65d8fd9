"""A file from which an interrupted fit goes on."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..em.loop import Step
from ..io.files import replacing
from ..kernels.types import FloatArray

SCHEMA = 1
KIND = "unshuffle checkpoint"


class Snapshot(NamedTuple):
    """All that the next iteration needs, besides the data.

    Attributes
    ----------
    coef : array of shape (d,)
    shift : float
        Fitted value at the centre of the columns.
    intercept, noise_scale, objective : float
    mismatch_rate : float
        Negative where the order is lost.
    """

    coef: FloatArray
    shift: float
    intercept: float
    noise_scale: float
    objective: float
    mismatch_rate: float


@dataclass(frozen=True)
class Checkpoint:
    """Where and how often to write; without a path nothing is written.

    Attributes
    ----------
    path : Path or None
    every : int
        Iterations between two writes. What stops a fit makes it write once more.
    resume : bool
        Whether to go on from the file, where there is one.
    seed : int
    fingerprint : str
        Of the data and the settings.
    """

    path: Path | None
    every: int
    resume: bool
    seed: int
    fingerprint: str

    def load(self) -> tuple[Snapshot, list[Step]] | None:
        """The state to go on from and the steps that led there; None for a new fit."""
        if self.path is None or not self.resume or not self.path.exists():
            return None
        fields = read_fields(self.path)
        if str(fields["fingerprint"]) != self.fingerprint:
            raise ValueError(
                f"{self.path} was written by a fit to other data or with other settings; give the "
                "same data and settings (max_iter may differ), or another checkpoint"
            )
        if int(fields["seed"]) != self.seed:
            raise ValueError(
                f"{self.path} was written by a fit with another random_state; give the same "
                "one, or None"
            )
        state = Snapshot(fields["coef"], *(float(value) for value in fields["numbers"]))
        steps = [
            Step(coef, *(float(value) for value in row))
            for coef, row in zip(fields["coef_path"], fields["number_path"], strict=True)
        ]
        return state, steps

    @contextmanager
    def guard(self, state: Snapshot, steps: list[Step]) -> Iterator[None]:
        """Write before every `every`-th iteration, and where an iteration is cut short."""
        if len(steps) and len(steps) % self.every == 0:
            self.save(state, steps)
        try:
            yield
        except BaseException:
            self.save(state, steps)
            raise

    def save(self, state: Snapshot, steps: list[Step]) -> None:
        """Write to a file beside, then put it in place: a reader finds the old or the new one."""
        if self.path is None:
            return
        with replacing(self.path) as part, part.open("wb") as file:
            np.savez(
                file,
                kind=np.array(KIND),
                schema=np.array(SCHEMA),
                fingerprint=np.array(self.fingerprint),
                seed=np.array(self.seed, dtype=np.int64),
                coef=state.coef,
                numbers=np.array(state[1:]),
                coef_path=np.array([s.coef for s in steps]).reshape(len(steps), len(state.coef)),
                number_path=np.array([s[1:] for s in steps]).reshape(len(steps), 4),
            )


def stored_seed(path: Path) -> int:
    """The seed of the fit that wrote a checkpoint."""
    return int(read_fields(path)["seed"])


def read_fields(path: Path) -> dict[str, Any]:
    """All fields of a checkpoint; refuses what is none."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            fields = {name: stored[name] for name in stored.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"{path} is no checkpoint, or it is cut short ({error}); remove it to begin anew"
        ) from error
    if str(fields.get("kind")) != KIND:
        raise ValueError(f"{path} is no checkpoint of a fit; give another file")
    if int(fields["schema"]) != SCHEMA:
        raise ValueError(
            f"{path} has schema {int(fields['schema'])}, this version reads schema {SCHEMA}; "
            "finish the fit with the version that began it, or begin anew"
        )
    return fields
