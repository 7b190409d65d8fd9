"""A file from which an interrupted fit continues."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..alignment.state import State
from ..em.loop import Step
from ..io.outputs import Output
from .checkpoint_format import CHECKPOINT, CheckpointFields, read_fields, write_fields

N_NUMBERS = 5  # of a state's fields, the coefficients included; the others are per row


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
    overwrite : bool
        Whether to replace a file at `path` that is no checkpoint.
    """

    path: Path | None = None
    every: int = 10
    resume: bool = False
    overwrite: bool = False

    def check(self) -> None:
        """Refuse, before data are read, a file that cannot be replaced or continued from."""
        output = self.output()
        if self.stored() is None and output is not None:
            output.check()

    def output(self) -> Output | None:
        """The file as an output."""
        return None if self.path is None else Output(self.path, CHECKPOINT, force=self.overwrite)

    def stored(self) -> CheckpointFields | None:
        """What to continue from; None for a new fit."""
        if self.path is None or not self.resume or not self.path.exists():
            return None
        return read_fields(self.path)

    def bind(self, seed: int, fingerprint: str, n_features: int) -> "Checkpoint":
        """The checkpoint of one fit."""
        return Checkpoint(self, seed, fingerprint, n_features)


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
    n_features : int
    """

    file: CheckpointFile
    seed: int
    fingerprint: str
    n_features: int

    def load(self) -> tuple[State, list[Step]] | None:
        """The state to continue from and the steps before it; None for a new fit."""
        fields, path = self.file.stored(), self.file.path
        if fields is None:
            return None
        if fields.fingerprint != self.fingerprint or len(fields.coef) != self.n_features:
            raise ValueError(
                f"{path} was written by a fit to other data or with other settings; give the "
                "same data and settings (max_iter may differ), or another checkpoint"
            )
        if fields.seed != self.seed:
            raise ValueError(
                f"{path} was written by a fit with another random_state; give the same one, or None"
            )
        intercept, noise, objective, rate = (float(value) for value in fields.numbers)
        state = State(fields.coef, intercept, noise, objective, rate)
        steps = [
            Step(coef, *(float(value) for value in row))
            for coef, row in zip(fields.coef_path, fields.number_path, strict=True)
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
        output = self.file.output()
        if output is None:
            return
        fields = CheckpointFields(
            self.fingerprint,
            self.seed,
            state.coef,
            np.array(state[1:N_NUMBERS]),
            np.array([step.coef for step in steps]).reshape(len(steps), len(state.coef)),
            np.array([step[1:] for step in steps]).reshape(len(steps), N_NUMBERS - 1),
        )
        with output.replacing() as part:
            write_fields(part, fields)
