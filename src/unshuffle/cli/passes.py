"""`unshuffle fit` in passes: Parquet files that may be larger than memory, here or on a cluster."""

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .errors import without_option
from .output import print_files, print_json, write_folder
from .screen import say

if TYPE_CHECKING:
    from ..estimators.stochastic import StochasticEMRegressor
    from ..io.outputs import Output
    from ..io.tables import Roles

NO_VERDICT = "no verdict: a fit in passes neither searches nor tests the order of the labels"


class Passes(NamedTuple):
    """Options of a fit in passes: the cluster, and the file from which it can continue."""

    scheduler: str | None
    checkpoint: Path | None
    resume: bool

    @property
    def asked_for(self) -> bool:
        """Whether any of the options was given."""
        return self != Passes(None, None, False)


def find_tables(paths: list[Path], passes: Passes) -> list[Path]:
    """The files of one table; folders and patterns stand for the Parquet files in them."""
    from ..io.parquet import find_files
    from ..io.standard_input import StandardInput
    from ..io.tables.fcs_files import are_fcs
    from ..io.tables.source import is_parquet

    many = [path.is_dir() or (not path.exists() and "*" in path.name) for path in paths]
    files = [
        file
        for path, is_many in zip(paths, many, strict=True)
        for file in (find_files(path) if is_many else [path])
    ]
    other = next((path for path in files if not is_parquet(path)), None)
    if passes.asked_for and any(isinstance(path, StandardInput) for path in files):
        raise ValueError("--scheduler, --checkpoint and --resume need files, not standard input")
    several = len(files) > 1 and not are_fcs(files)
    if other is not None and (several or passes.asked_for):
        raise ValueError(
            f"{other} is not a Parquet file; several files, --scheduler, --checkpoint and --resume "
            "are for Parquet (several FCS files are one table as well, and two tables that share a "
            "group need --by)"
        )
    return files


def reason_for_passes(files: list[Path], roles: "Roles", passes: Passes) -> str:
    """Why a table is fitted in passes: an option or its size; empty where it is not."""
    from ..io.parquet import ParquetFiles
    from ..io.tables import open_table
    from ..io.tables.roles import choose_features

    if passes.asked_for:
        return "--scheduler, --checkpoint or --resume is given"
    source = open_table(files)
    if not isinstance(source, ParquetFiles):
        return ""
    from ..estimators._sources import is_large

    n, d = source.n_rows, len(choose_features(source, roles))
    return f"{n:,} rows of {d} features are declared" if is_large(n, d) else ""


def fit_in_passes(
    files: list[Path],
    roles: "Roles",
    passes: Passes,
    reason: str,
    *,
    settings: dict[str, Any],
    pairing: str,
    quiet: bool,
    force: bool,
    reviewed: Path | None = None,
) -> "StochasticEMRegressor":
    """Fit in passes; what to assume about the order must be declared, because nothing tests it.

    Always in passes, so that a scheduler, or none, changes no bit.
    """
    from ..estimators.parquet import fit_parquet
    from ..estimators.streaming import Streaming
    from ..io.parquet import ParquetFiles
    from ..io.tables.roles import check_label, choose_features

    source = ParquetFiles(tuple(files))
    label = check_label(source, roles.label, source.names)
    if roles.match_features:
        raise ValueError(f"--match-feature is not for a fit in passes ({reason}); fit a sample")
    if roles.match_prob or roles.categorical or roles.kmers or roles.drop_missing:
        raise ValueError(
            "--match-prob, --categorical, --kmers and --drop-missing are not for a fit in passes "
            f"({reason})"
        )
    for name, option in (("covariance_type", "--robust"), ("noise", "--noise")):
        if name in settings:
            raise ValueError(f"{option} is not for a fit in passes ({reason})")
    if roles.id or roles.position or roles.shown or reviewed:
        raise ValueError(
            f"--id, --plate, --show and --reviewed are not for a fit in passes ({reason}), which "
            "writes no table of rows; name the columns to fit by --features"
        )
    if passes.resume and passes.checkpoint is None:
        raise ValueError("--resume continues from a file; name it by --checkpoint")
    if pairing == "known":
        raise ValueError(
            f"--pairing known is not for a fit in passes ({reason}); use ordinary least squares"
        )
    if pairing == "auto":
        raise ValueError(
            f"{files[0]}: the fit is made in passes ({reason}), which do not test the order of the "
            "labels; choose --pairing lost (a label may belong to any row of its group) or "
            "--pairing mostly-right (most labels belong to the row beside them)"
        )
    with without_option("missing"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fit_parquet(
            files,
            label=label,
            group=roles.group,
            known=roles.known,
            features=choose_features(source, roles) if roles.excluded else roles.features or None,
            **passes._asdict(),
            streaming=Streaming(overwrite=force),
            **settings,
            mismatch_rate="estimate" if pairing == "mostly-right" else None,
            verbose=int(sys.stderr.isatty() and not quiet),
        )
    for warning in [] if quiet else caught:
        say(f"note: {warning.message}", err=True)
    return model


def report_passes(
    model: "StochasticEMRegressor", label: str, folder: "Output | None", as_json: bool
) -> None:
    """Write and print the coefficients; there is no verdict."""
    # Matches and a report would grow with the rows.
    files = [] if folder is None else write_folder(model, folder, label=label)
    if as_json:
        print_json({"label": label, **model.summary().to_dict(), "files": files})
        return
    say(str(model.summary()))
    say(NO_VERDICT)
    print_files(files)
