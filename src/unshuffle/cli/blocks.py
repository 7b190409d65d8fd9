"""`unshuffle blocks`: were labels exchanged inside blocks?"""

from typing import Annotated

import typer

from ..io.visible import visible
from . import options
from .errors import plain_errors
from .notes import print_table_notes
from .screen import say

EXAMPLES = """
[bold]Example[/bold]

Before a fit that assumes every label to stand beside its own row, or to have moved anywhere:

    unshuffle blocks trial.csv --label response --features age,dose --by clinic,plate,day
"""


def blocks(
    data: options.Data,
    by: Annotated[
        str,
        typer.Option(
            "--by", metavar="A,B,...", show_default=False, rich_help_panel=options.COLUMNS,
            help="Columns of blocks inside which labels may have been exchanged.",
        ),
    ],
    label: options.Label = None,
    features: options.Features = None,
    categorical: options.Categorical = None,
    exclude: options.Exclude = None,
    kmers: options.KmersOf = None,
    drop_missing: options.DropMissing = False,
    level: Annotated[
        float,
        typer.Option(
            min=0.5, max=0.999,
            help="Level of the intervals; a p-value below one minus this is a sign.",
        ),
    ] = 0.95,
    seed: options.Seed = 0,
    as_json: options.AsJson = False,
    debug: options.Debug = False,
) -> None:  # fmt: skip
    """Were labels exchanged inside blocks, such as clinics, plates or days?

    Labels exchanged inside blocks weaken all slopes by one factor. A fit that does not know the
    blocks cannot see this, but slopes between the means of blocks stay as they are. This compares
    the slopes within blocks with those between, for each column named. If there is a sign of an
    exchange, fit with --group.
    """
    with plain_errors("blocks", debug):
        from ..estimators.blocks import check_blocks
        from ..exceptions import TableError
        from ..io.frames import NamedMatrix
        from ..io.standard_input import take_standard_input
        from ..io.tables import read_rows
        from .output import print_json

        (data,) = take_standard_input([data])
        roles = options.make_roles(
            label, features, None, categorical=categorical, blocks=by, exclude=exclude,
            kmers=kmers, drop_missing=drop_missing,
        )  # fmt: skip
        rows = read_rows(data, roles)
        columns = {name: rows.table.columns[name] for name in roles.blocks}
        matrix = NamedMatrix(rows.X, tuple(rows.names))
        try:
            result = check_blocks(matrix, rows.y, columns, level=level, random_state=seed)
        except ValueError as error:
            raise TableError(data, str(error)) from error
        print_table_notes(rows, as_json)
        if as_json:
            print_json({"data": data, "label": rows.label, **result.to_dict()})
        else:
            say(str(result))
            if result.finding == "exchange":
                name = result.checks[0].column
                say(f"\nNext: unshuffle fit, with --group {visible(name)} and the same label")
