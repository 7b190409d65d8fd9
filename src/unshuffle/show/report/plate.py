"""Plates with their wells, each with the probability that its label is its own."""

from typing import Any

import numpy as np

from ...io.positions import Position, parse_position, row_letters
from ...kernels.types import FloatArray, IntArray
from ..markup import shorten
from ..settings import ShowSettings
from .facts import DataFacts


def places_of(data: DataFacts) -> list[Position]:
    """Where each row stands; nothing where no places are given."""
    places = []
    for row, text in enumerate(data.positions or ()):
        found = parse_position(text)
        if found is None:
            raise ValueError(
                f"positions[{row}] is {text!r}; give a letter and a number, such as A1"
            )
        group = "" if data.group_names is None else str(data.group_names[row])
        places.append(found._replace(plate=found.plate or group))
    return places


def plates_of(
    places: list[Position], proba: FloatArray, kept: IntArray, limits: ShowSettings
) -> list[dict[str, Any]]:
    """Plates in the order of the table, those with the least probable labels where many are.

    A well is [row, column, number of its record or -1, row of the table, probability]. Where two
    rows share a well, the less probable one is shown.
    """
    record = {int(row): k for k, row in enumerate(kept)}
    wells: dict[str, dict[tuple[int, int], list[Any]]] = {}
    for row, found in enumerate(places):
        plate = wells.setdefault(found.plate, {})
        well = [found.row, found.column, record.get(row, -1), row + 1, round(float(proba[row]), 3)]
        before = plate.get((found.row, found.column))
        if before is None or well[4] < before[4]:
            plate[found.row, found.column] = well
    doubt = {name: sum(1.0 - well[4] for well in plate.values()) for name, plate in wells.items()}
    chosen, room = set(), limits.most_wells
    for name in sorted(doubt, key=lambda name: -doubt[name]):
        room -= len(wells[name])
        if room >= 0:
            chosen.add(name)
    return [_plate(name, plate) for name, plate in wells.items() if name in chosen]


def _plate(name: str, plate: dict[tuple[int, int], list[Any]]) -> dict[str, Any]:
    rows, columns = (int(np.max([place[k] for place in plate])) + 1 for k in (0, 1))
    return {
        "name": shorten(name),
        "rows": [row_letters(row) for row in range(rows)],
        "columns": columns,
        "wells": list(plate.values()),
    }
