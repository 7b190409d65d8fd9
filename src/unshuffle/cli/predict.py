"""`unshuffle predict`: labels for new rows."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ..io.visible import visible
from . import options
from .errors import plain_errors
from .prediction import read_design
from .screen import say

EXAMPLES = """
[bold]Example[/bold]

    unshuffle fit houses.csv --label price --group zone --out results
    unshuffle predict results new_houses.csv --out predicted.csv
"""


def predict(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="Folder that fit --out wrote, or its model.json.",
            show_default=False,
        ),
    ],
    data: options.Data,
    id_column: options.Id = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", rich_help_panel=options.OUTPUT,
            help=r"File to write: .csv, .tsv, either with .gz, or .parquet.  \[default: print CSV]",
        ),
    ] = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
    debug: options.Debug = False,
) -> None:  # fmt: skip
    """Predict labels for the rows of a table that has the model's columns, in any order."""
    with plain_errors("predict", debug):
        import numpy as np

        from ..fits.model_files import load_model, model_files
        from ..io.outputs import Outputs
        from ..io.standard_input import take_standard_input, with_redirected
        from ..io.tables import open_table
        from ..io.tables.write import TABLE, check_writable_kind, write_rows, write_table
        from .output import print_files, print_json

        (data,) = take_standard_input([data])
        output = None
        if out is not None:
            check_writable_kind(out)
            read = with_redirected([model, data, *model_files(model)])
            output = Outputs(read, force=force).claim(out, TABLE)
        stored = load_model(model)
        source = open_table(data)
        X, ids = read_design(source, stored.columns, id_column)
        predicted = stored.predict(X)
        named: dict[str, Any] = {} if ids is None else {"id": ids}
        columns = {"row": np.arange(1, len(predicted) + 1), **named, stored.label: predicted}
        if output is not None:
            write_table(output, columns)
        if as_json:
            document = {"label": stored.label, **named, "predictions": predicted, "file": out}
            print_json(document)
        elif out is not None:
            print_files([out])
        else:
            write_rows(sys.stdout, {visible(name): values for name, values in columns.items()})
        if stored.verdict_ is not None and stored.verdict_.level != "trust" and not as_json:
            say(f"note: the verdict on this model is {stored.verdict_}", err=True)
