"""Read FCS files as data frames."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .frames import make_frame
from .tables.fcs import FcsFile


def read_fcs(
    path: str | Path, columns: Sequence[str] | None = None, *, library: str = "pandas"
) -> Any:
    """Read the events of an FCS file, with the checks of the command line.

    Parameters
    ----------
    path : path
        A file of a flow cytometer, version 2.0 to 3.1.
    columns : list of str, optional
        Channels, by their short names; all by default.
    library : {"pandas", "polars", "pyarrow"}, default="pandas"
        What the frame is made of.

    Returns
    -------
    events : data frame
        One line per event, one column per channel, on their linear scale.

    Raises
    ------
    TableError
        Where the file is damaged, or has no such channel.

    Examples
    --------
    >>> from unshuffle import read_fcs
    >>> events = read_fcs("tube.fcs", ["FSC-A", "SSC-A"])  # doctest: +SKIP
    """
    source = FcsFile(Path(path))
    try:
        names = source.names
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'FCS files need flowio: pip install "unshuffle[fcs]"', name=error.name
        ) from error
    wanted = list(names) if columns is None else [str(name) for name in columns]
    missing = [name for name in wanted if name not in names]
    if missing:
        raise ValueError(f"{path} has no channel {missing[0]!r}; the channels are {names}")
    return make_frame(source.read(wanted).columns, library)
