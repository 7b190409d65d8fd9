"""How to fit data that are larger than memory."""

from dataclasses import dataclass
from pathlib import Path

from ..fits.checkpoint import CheckpointFile


@dataclass(frozen=True)
class Streaming:
    """Settings of a fit that reads the data in passes instead of holding them in memory.

    Handed to `StochasticEMRegressor` as `streaming`, it makes every fit a streamed one.

    Parameters
    ----------
    rows_per_part : int, default=1_000_000
        Rows that are worked on at a time; groups are never cut, so a part is at least as large as
        its largest group. The answer does not depend on it.
    folder : path, default=None
        Where parts of data on disk are put together during the fit: as much space as the
        features take, in a file without a name, which ends with the process. None is the system's
        folder for temporary files.
    scheduler : str, default=None
        Address of a Dask scheduler. None uses the Dask client in use, if the data are Dask's, and
        this machine otherwise.
    checkpoint : path, default=None
        File to write every `checkpoint_every` iterations, and when a fit is cut short. A file that
        is there and is no checkpoint is refused.
    checkpoint_every : int, default=10
        Iterations between two writes.
    resume : bool, default=False
        Go on from the checkpoint, if there is one. The result is that of a fit that was never
        interrupted.
    overwrite : bool, default=False
        Replace a file at `checkpoint` that is no checkpoint.

    Examples
    --------
    >>> from unshuffle import StochasticEMRegressor, Streaming
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> data = make_shuffled_regression(
    ...     2000, 3, noise=0.1, shuffle="groups", n_groups=200, random_state=0
    ... )
    >>> streaming = Streaming(rows_per_part=500)
    >>> model = StochasticEMRegressor(streaming=streaming, random_state=0)
    >>> bool(abs(model.fit(data.X, data.y, groups=data.groups).coef_ - data.coef).max() < 0.05)
    True
    """

    rows_per_part: int = 1_000_000
    folder: str | Path | None = None
    scheduler: str | None = None
    checkpoint: str | Path | None = None
    checkpoint_every: int = 10
    resume: bool = False
    overwrite: bool = False

    def __post_init__(self) -> None:
        if self.rows_per_part < 1 or self.checkpoint_every < 1:
            raise ValueError(
                "rows_per_part and checkpoint_every count rows and iterations, from 1 on; got "
                f"{self.rows_per_part} and {self.checkpoint_every}"
            )
        if self.resume and self.checkpoint is None:
            raise ValueError("resume needs a checkpoint to go on from; name the file")

    def checkpoint_file(self) -> CheckpointFile:
        """Where an interrupted fit continues from."""
        path = None if self.checkpoint is None else Path(self.checkpoint)
        return CheckpointFile(path, self.checkpoint_every, self.resume, self.overwrite)
