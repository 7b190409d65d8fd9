"""Fits to Parquet files, on this machine or on a cluster."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..io.frames import NamedMatrix
from ..io.parquet import open_passes
from ._sources import ParquetSource, is_large
from .stochastic import StochasticEMRegressor
from .streaming import Streaming


def fit_parquet(
    paths: str | Path | Sequence[str | Path],
    *,
    label: str,
    group: str | None = None,
    known: str | None = None,
    features: Sequence[str] | None = None,
    scheduler: str | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_every: int | None = None,
    resume: bool = False,
    streaming: Streaming | None = None,
    **settings: Any,
) -> StochasticEMRegressor:
    """Fit a `StochasticEMRegressor` to Parquet files that may be larger than memory.

    Files with up to 200 million numbers are read and fitted in memory. Larger ones, and any for
    which a `scheduler`, a `checkpoint` or `streaming` is given, are read in passes: on this
    machine, where whole groups are put together in temporary files, or on the workers of a Dask
    cluster, which must see the files under the same paths. For one `random_state` a fit in passes
    has one answer, to the last bit, wherever it is made.

    Parameters
    ----------
    paths : path or sequence of paths
        Files, folders or patterns such as ``"big/*.parquet"``. The order of the files is the order
        of the rows.
    label : str
        Column of the labels.
    group : str, default=None
        Column of the groups inside which labels have moved. None means one group, which must
        then fit into the memory of one worker.
    known : str, default=None
        Column that is true where the label beside a row is surely its own.
    features : sequence of str, default=None
        Columns of the features, which must hold numbers. None takes all columns without another
        role, and refuses a table where one of them holds text or dates: encode such columns
        first, or name the features without them.
    scheduler : str, default=None
        Address of a Dask scheduler, such as ``"tcp://10.0.0.1:8786"``. None uses this machine.
    checkpoint : path, default=None
        File to write every `checkpoint_every` iterations and when the fit is cut short. A file
        that is there and is no checkpoint is refused.
    checkpoint_every : int, default=None
        Iterations between two writes; 10 if None.
    resume : bool, default=False
        Continue from the checkpoint, if there is one.
    streaming : Streaming, default=None
        Further settings of a fit in passes. The arguments above come first.
    **settings
        Parameters of `StochasticEMRegressor`, such as ``mismatch_rate="estimate"``.

    Returns
    -------
    model : StochasticEMRegressor
        Fitted.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from unshuffle import fit_parquet
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> data = make_shuffled_regression(
    ...     400, 2, noise=0.1, shuffle="groups", n_groups=40, random_state=0
    ... )
    >>> table = pd.DataFrame(data.X, columns=["a", "b"]).assign(y=data.y, zone=data.groups)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table.to_parquet(Path(folder) / "table.parquet")
    ...     model = fit_parquet(folder, label="y", group="zone", random_state=0)
    >>> bool(abs(model.coef_ - data.coef).max() < 0.05)
    True
    """
    table = open_passes(paths, label=label, group=group, known=known, features=features)
    source = ParquetSource(table)
    model = StochasticEMRegressor(**settings)
    given: dict[str, Any] = {
        "scheduler": scheduler,
        "checkpoint": checkpoint,
        "checkpoint_every": checkpoint_every,
        "resume": resume or None,
    }
    given = {name: value for name, value in given.items() if value is not None}
    if streaming is None and not given and not is_large(*source.shape):
        return model.fit(
            NamedMatrix(
                table.read_features().astype(np.float64, copy=False), tuple(table.features)
            ),
            table.labels(),
            groups=None if group is None else table.codes(),
            known=None if known is None else table.known_rows(),
        )
    model.streaming = replace(streaming or Streaming(), **given)
    model._validate_params()
    return model._fit_in_passes(source)
