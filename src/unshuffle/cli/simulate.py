"""`unshuffle simulate`: a simulated table with shuffled labels."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from . import options
from .errors import plain_errors

EXAMPLES = """
[bold]Example[/bold]

    unshuffle simulate --rows 600 --columns 4 --noise 0.5 --shuffle groups --groups 40 \\
        --out made.csv --truth truth.json
    unshuffle fit made.csv --label y --group group
"""


class Shuffle(StrEnum):
    """How labels are moved."""

    full = "full"
    groups = "groups"
    fraction = "fraction"
    swaps = "swaps"


class GroupBy(StrEnum):
    """How groups are cut."""

    random = "random"
    feature = "feature"
    label = "label"


def simulate(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Table to write.", show_default=False)
    ],
    truth: Annotated[
        Path | None,
        typer.Option(help="JSON file with true coefficients, labels in order and permutation."),
    ] = None,
    rows: Annotated[int, typer.Option(min=2, help="Rows.")] = 500,
    columns: Annotated[int, typer.Option(min=1, help="Features.")] = 5,
    noise: Annotated[float, typer.Option(min=0.0, help="Standard deviation of the noise.")] = 0.5,
    shuffle: Annotated[
        Shuffle,
        typer.Option(
            help="All labels; inside groups; a fraction of them; or a number of swaps."
        ),
    ] = Shuffle.groups,
    groups: Annotated[int, typer.Option(min=1, help="Groups, for --shuffle groups.")] = 40,
    group_by: Annotated[
        GroupBy, typer.Option(help="Groups at random, by the first feature, or by the label.")
    ] = GroupBy.random,
    fraction: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="For --shuffle fraction.")
    ] = 0.1,
    swaps: Annotated[int, typer.Option(min=0, help="For --shuffle swaps.")] = 10,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Seed.")] = 0,
    force: options.Force = False,
    debug: options.Debug = False,
) -> None:  # fmt: skip
    """Make a table of a linear regression whose labels are shuffled.

    Columns: group (where there are groups), x1, x2, ..., and the label y.
    """
    with plain_errors("simulate", debug):
        import numpy as np

        from ..datasets.simulated import make_shuffled_regression
        from ..io.outputs import Outputs
        from ..io.tables.limits import check_size
        from ..io.tables.write import TABLE, check_writable_kind, write_table
        from .kinds import TRUTH, TRUTH_MARK
        from .output import print_files

        check_writable_kind(out)
        outputs = Outputs(force=force)
        table_file = outputs.claim(out, TABLE)
        truth_file = None if truth is None else outputs.claim(truth, TRUTH)
        check_size(out, rows, columns)
        made = make_shuffled_regression(
            rows, columns, noise=noise, shuffle=shuffle.value, n_swaps=swaps, fraction=fraction,
            n_groups=groups if shuffle is Shuffle.groups else 1, group_by=group_by.value,
            random_state=seed,
        )  # fmt: skip
        table = {"group": np.array([f"g{k}" for k in made.groups], dtype=object)}
        if shuffle is not Shuffle.groups:
            table = {}
        table |= {f"x{j + 1}": made.X[:, j] for j in range(columns)} | {"y": made.y}
        if truth_file is not None:
            known = {
                "format": TRUTH_MARK,
                "coefficients": {f"x{j + 1}": float(made.coef[j]) for j in range(columns)},
                "intercept": made.intercept, "noise": noise, "seed": seed,
                "labels": made.y_ordered.tolist(), "permutation": made.permutation.tolist(),
            }  # fmt: skip
            truth_file.write(json.dumps(known).encode())
        write_table(table_file, table)
        print_files([out, truth])
