"""A file from which an interrupted fit continues."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..alignment.state import State
from ..em.loop import Step
from ..io.files import replacing
from ..io.npz import read_npz

SCHEMA = 2
N_NUMBERS = 5  # of a state's fields, the coefficients included; the others are per row
KIND = "unshuffle checkpoint"


@dataclass(frozen=True)
class CheckpointFile:
    """Where to write; without a path nothing is written.

    Attributes
    ----------
    path : Path or None
    every : int
        Iterations between two writes. An exception makes the fit write once more.
    resume : bool
        Whether to continue from the file, where there is one.
    """

    path: Path | None = None
    every: int = 10
    resume: bool = False

    def bind(self, seed: int, fingerprint: str) -> "Checkpoint":
        """The checkpoint of one fit."""
        return Checkpoint(self, seed, fingerprint)


NO_CHECKPOINT = CheckpointFile()


@dataclass(frozen=True)
class Checkpoint:
    """The checkpoint of one fit.

    Attributes
    ----------
    file : CheckpointFile
    seed : int
    fingerprint : str
        Of the data and the settings.
    """

    file: CheckpointFile
    seed: int
    fingerprint: str

    def load(self) -> tuple[State, list[Step]] | None:
        """The state to continue from and the steps before it; None for a new fit."""
        path = self.file.path
        if path is None or not self.file.resume or not path.exists():
            return None
        fields = read_fields(path)
        if str(fields["fingerprint"]) != self.fingerprint:
            raise ValueError(
                f"{path} was written by a fit to other data or with other settings; give the "
                "same data and settings (max_iter may differ), or another checkpoint"
            )
        if int(fields["seed"]) != self.seed:
            raise ValueError(
                f"{path} was written by a fit with another random_state; give the same one, or None"
            )
        intercept, noise, objective, rate = (float(value) for value in fields["numbers"])
        state = State(fields["coef"], intercept, noise, objective, rate)
        steps = [
            Step(coef, *(float(value) for value in row))
            for coef, row in zip(fields["coef_path"], fields["number_path"], strict=True)
        ]
        return state, steps

    @contextmanager
    def guard(self, state: State, steps: list[Step]) -> Iterator[None]:
        """Write before every `every`-th iteration, and where an iteration is cut short."""
        if len(steps) and len(steps) % self.file.every == 0:
            self.save(state, steps)
        try:
            yield
        except BaseException:
            self.save(state, steps)
            raise

    def save(self, state: State, steps: list[Step]) -> None:
        """Write to a file beside, then put it in place: a reader finds the old or the new one."""
        path = self.file.path
        if path is None:
            return
        with replacing(path) as part, part.open("wb") as file:
            np.savez(
                file,
                kind=np.array(KIND),
                schema=np.array(SCHEMA),
                fingerprint=np.array(self.fingerprint),
                seed=np.array(self.seed, dtype=np.int64),
                coef=state.coef,
                numbers=np.array(state[1:N_NUMBERS]),
                coef_path=np.array([s.coef for s in steps]).reshape(len(steps), len(state.coef)),
                number_path=np.array([s[1:] for s in steps]).reshape(len(steps), 4),
            )


def stored_seed(path: Path) -> int:
    """The seed of the fit that wrote a checkpoint."""
    return int(read_fields(path)["seed"])


def read_fields(path: Path) -> dict[str, Any]:
    """All fields of a checkpoint; refuses what is none."""
    try:
        fields = read_npz(path)  # bounded by the file's size, and never a pipe or a device
    except ValueError as error:
        raise ValueError(
            f"{path} is no checkpoint, or it is cut short ({error}); remove it to start anew"
        ) from error
    if str(fields.get("kind")) != KIND:
        raise ValueError(f"{path} is no checkpoint of a fit; give another file")
    if int(fields["schema"]) != SCHEMA:
        raise ValueError(
            f"{path} has schema {int(fields['schema'])}, this version reads schema {SCHEMA}; "
            "finish the fit with the version that started it, or start anew"
        )
    return fields
