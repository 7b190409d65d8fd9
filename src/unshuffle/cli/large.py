"""`unshuffle fit` for Parquet files that may be larger than memory, here or on a cluster."""

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from .output import FILES, print_json

if TYPE_CHECKING:
    from ..estimators.stochastic import StochasticEMRegressor

NO_VERDICT = "no verdict: large files are fitted in passes, without a search; see --pairing"


class Passes(NamedTuple):
    """How a large table is fitted: on which cluster, and from which file it can go on."""

    scheduler: str | None
    checkpoint: Path | None
    resume: bool

    @property
    def asked_for(self) -> bool:
        """Whether any of the options was given."""
        return self != Passes(None, None, False)


def fit_large(
    paths: list[Path],
    passes: Passes,
    *,
    label: str | None,
    columns: dict[str, Any],
    settings: dict[str, Any],
    pairing: str,
    quiet: bool,
) -> "StochasticEMRegressor":
    """Fit in passes; what is believed of the order must be said, because nothing tests it.

    Always in passes, so that a scheduler, or none, changes no bit.
    """
    from ..estimators.parquet import fit_parquet
    from ..estimators.streaming import Streaming

    others = [path for path in paths if path.suffix != ".parquet" and not path.is_dir()]
    if others:
        raise ValueError(
            f"{others[0]} is not a Parquet file; several files, --scheduler, --checkpoint and "
            "--resume are for Parquet (two tables that share a group key need --by)"
        )
    if label is None:
        raise ValueError("name the column to explain: --label")
    if passes.resume and passes.checkpoint is None:
        raise ValueError("--resume goes on from a file; name it by --checkpoint")
    if pairing == "known":
        raise ValueError("large files are not fitted with --pairing known; use any OLS for that")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = fit_parquet(
            [str(path) for path in paths],
            label=label,
            **columns,
            **passes._asdict(),
            streaming=Streaming(),
            **settings,
            mismatch_rate="estimate" if pairing == "mostly-right" else None,
            verbose=int(sys.stderr.isatty() and not quiet),
        )
    for warning in [] if quiet else said:
        typer.echo(f"note: {warning.message}", err=True)
    return model


def tell_large(model: "StochasticEMRegressor", label: str, out: Path | None, as_json: bool) -> None:
    """Write and print what is known without a verdict."""
    files = [] if out is None else write_large(model, label, out)
    if as_json:
        print_json({"label": label, **model.summary().to_dict(), "files": files})
        return
    typer.echo(str(model.summary()))
    typer.echo(NO_VERDICT)
    for path in files:
        typer.echo(f"Written: {path}")


def write_large(model: "StochasticEMRegressor", label: str, folder: Path) -> list[Path]:
    """Model and summary; matches and a report would grow with the rows."""
    from ..fits.model_files import write_model
    from ..io.files import replacing_folder
    from ..io.tables.write import as_csv

    with replacing_folder(folder, FILES) as part:
        write_model(model, part, label=label)
        (part / "summary.csv").write_bytes(as_csv(model.summary().to_columns()))
        names = sorted(path.name for path in part.iterdir())
    return [folder / name for name in names]
