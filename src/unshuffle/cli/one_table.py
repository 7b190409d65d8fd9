"""What commands on one table share: claiming an output, and the fit that reviews are part of."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import options

if TYPE_CHECKING:
    from ..io.outputs import Output
    from .fitting import Fitted


def claim_table(out: Path, data: Path, reviewed: Path | None, force: bool) -> "Output":
    """A table to be written, which is none of the inputs."""
    from ..io.outputs import Outputs
    from ..io.standard_input import with_redirected
    from ..io.tables.write import TABLE

    return Outputs(with_redirected([data, *filter(None, [reviewed])]), force=force).claim(
        out, TABLE
    )


def fit_one_table(
    data: Path,
    *columns: str | None,
    id_column: str | None,
    exclude: str | None,
    kmers: str | None,
    reviewed: Path | None,
    pairing: options.OrderGiven,
    **how: Any,
) -> "Fitted":
    """Read a table and fit it.

    Parameters
    ----------
    data : Path
    *columns : str or None
        Label, features, group, known, match_prob and categorical, as for `options.make_roles`.
    id_column, exclude, kmers : str or None
    reviewed : Path or None
        Decisions of people.
    pairing : OrderGiven
    **how
        Intercept, seed, jobs and quiet, as for `fit_rows`.
    """
    from ..io.tables import read_rows
    from .reviewed import fit_reviewed

    roles = options.make_roles(*columns, id_column=id_column, exclude=exclude, kmers=kmers)
    rows = read_rows(data, roles)
    return fit_reviewed(rows, reviewed, id_column or "", pairing=pairing.value, **how)
