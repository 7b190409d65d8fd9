"""The rows of a review as compact data for the script of the page."""

import hashlib
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...io.positions import Position
from ...kernels.types import IntArray
from ..markup import shorten
from ..settings import ShowSettings
from .decisions import KINDS, OPEN, SUSPECT, Listing
from .facts import DataFacts
from .plate import places_of, plates_of
from .rows import FitRows


def review_data(
    data: DataFacts, rows: FitRows, listing: Listing, limits: ShowSettings
) -> tuple[Listing, str]:
    """What the script shows, as JSON that can stand in a page; and the rows that found room.

    Columns are left out first, then rows, until it is short enough.
    """
    columns = list(data.records or ())[: limits.most_review_columns]
    places = places_of(data)
    while True:
        text = embed(_document(data, rows, listing, columns, places, limits))
        excess = len(text.encode()) / limits.most_review_bytes
        n_rows, n_columns = len(listing.rows), len(columns)
        if excess <= 1.0 or (n_rows <= 1 and not columns):
            return listing, text
        if columns:
            columns = columns[: min(n_columns - 1, int(n_columns / excess))]
        else:
            listing = listing.first(max(min(n_rows - 1, int(0.95 * n_rows / excess)), 1))


def embed(document: Any) -> str:
    """JSON for a script element, which no text inside can end."""
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _document(
    data: DataFacts,
    rows: FitRows,
    listing: Listing,
    columns: Sequence[str],
    places: list[Position],
    limits: ShowSettings,
) -> dict[str, Any]:
    partners = listing.partners[listing.partners >= 0]
    kept = np.unique(np.concatenate([listing.rows, partners]))
    place = {int(row): k for k, row in enumerate(kept)}
    groups, codes = _groups(data, rows, kept)
    records = {name: np.asarray((data.records or {})[name], dtype=object) for name in columns}
    cells = [_coded([_cell(value) for value in values[kept]]) for values in records.values()]
    return {
        "key": _key(data, listing),
        "label": shorten(data.label or "label"),
        "group": shorten(data.group or "group"),
        "named": data.row_names is not None,
        "grouped": bool(groups),
        "kinds": KINDS,
        "open": OPEN,
        "n": data.n_rows,
        "columns": [shorten(name) for name in columns],
        "words": [words for words, _ in cells],
        "groups": groups,
        "records": _records(data, rows, listing, kept, codes, [column for _, column in cells]),
        "rows": [
            [
                place[int(row)],
                int(listing.kinds[row]),
                int(listing.sound[row] < SUSPECT),
                *_partners(listing, k, place),
            ]
            for k, row in enumerate(listing.rows)
        ],
        "plates": plates_of(places, listing.proba, kept, limits),
    }


def _partners(listing: Listing, k: int, place: dict[int, int]) -> list[Any]:
    """Places of the records of partners, each with its probability."""
    return [
        value
        for partner, share in zip(listing.partners[k], listing.shares[k], strict=True)
        if partner >= 0
        for value in (place[int(partner)], _number(share, ".4g"))
    ]


def _records(
    data: DataFacts,
    rows: FitRows,
    listing: Listing,
    kept: IntArray,
    codes: Sequence[int],
    cells: Sequence[Sequence[object]],
) -> list[list[Any]]:
    names = data.row_names
    return [
        [
            int(row) + 1,
            None if names is None else str(names[row]),
            codes[k],
            None if rows.labels is None else _number(rows.labels[row], ".12g"),
            None if rows.fitted is None else _number(rows.fitted[row], ".5g"),
            _number(listing.proba[row], ".4f"),
            *(column[k] for column in cells),
        ]
        for k, row in enumerate(kept)
    ]


def _coded(cells: list[object]) -> tuple[list[object] | None, list[object]]:
    """Texts that come again and again as numbers of a list of them; None where they do not."""
    words = dict.fromkeys(cells)
    if 2 * len(words) > len(cells) or not all(isinstance(word, str) for word in words):
        return None, cells
    numbers = {word: k for k, word in enumerate(words)}
    return list(words), [numbers[cell] for cell in cells]


def _cell(value: object) -> object:
    if isinstance(value, float | int | np.number) and not isinstance(value, bool):
        return _number(float(value), ".6g")
    return shorten(value)


def _number(value: float, form: str) -> float | int | None:
    """As many digits as `form` shows; JSON has no nan."""
    if not math.isfinite(value):
        return None
    short = float(format(value, form))
    return int(short) if short.is_integer() and abs(short) < 1e9 else short


def _groups(data: DataFacts, rows: FitRows, kept: IntArray) -> tuple[list[str], list[int]]:
    """Names of the groups, each once, and the number of each row's; -1 for none."""
    if data.group_names is not None:
        names = [shorten(data.group_names[row]) for row in kept]
    elif rows.groups is not None and rows.n_groups > 1:
        names = ["" if rows.groups[row] < 0 else str(rows.groups[row] + 1) for row in kept]
    else:
        return [], [-1] * len(kept)
    numbers = {name: k for k, name in enumerate(dict.fromkeys(name for name in names if name))}
    return list(numbers), [numbers.get(name, -1) for name in names]


def _key(data: DataFacts, listing: Listing) -> str:
    """A name under which a browser keeps the progress: one for each fit of each table."""
    digest = hashlib.sha256(f"{data.source}\n{data.label}\n{data.n_rows}\n".encode())
    digest.update(listing.rows.tobytes())
    digest.update(np.round(listing.proba, 6).tobytes())
    return f"unshuffle-review-{digest.hexdigest()[:16]}"
