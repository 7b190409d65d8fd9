"""Arrays of numbers as a user gives them: dates and masked values are refused, not converted.

NumPy turns a date into the count of its unit and a missing date into -9e18, and drops the mask of
a masked array: both would be fitted without a word.
"""

import datetime
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.types import FloatArray

DATES = (datetime.date, datetime.time, np.datetime64)
DURATIONS = (datetime.timedelta, np.timedelta64)
KINDS = {"M": "dates", "m": "durations"}
CURES = {
    "dates": "such as days since the first: (dates - dates.min()) / np.timedelta64(1, 'D')",
    "durations": "such as seconds: durations / np.timedelta64(1, 's')",
}


# Sums of fourth powers, and coefficients from labels of one end and features of the other, are
# finite between these.
SMALLEST, LARGEST = 1e-50, 1e50


def refuse_sizes(largest: FloatArray, names: Sequence[str]) -> None:
    """Refuse columns whose largest absolute values would under- or overflow in sums of powers.

    Columns of zeros have no size.
    """
    wrong = np.flatnonzero((largest > LARGEST) | ((largest < SMALLEST) & (largest > 0.0)))
    if len(wrong):
        name, size = names[wrong[0]], float(largest[wrong[0]])
        raise ValueError(
            f"the largest value of {name} is {size:.2g} in size, which is outside {SMALLEST:g} to "
            f"{LARGEST:g}; choose another unit: divide it by 1e{math.floor(math.log10(size)):+d}"
        )


def as_numbers(values: Any, name: str) -> NDArray[Any]:
    """`values` as an array of what may be numbers; `name` is what messages call it."""
    refuse_masked(values, name)
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} is complex; give real numbers")
    refuse_dates(array, name)
    return array


def as_floats(values: Any, name: str) -> FloatArray:
    """`values` as floats; what cannot be one raises an error that names `name`."""
    array = as_numbers(values, name)
    try:
        floats: FloatArray = np.ascontiguousarray(array, dtype=np.float64)
    except OverflowError as error:  # an integer of Python beyond double precision
        raise ValueError(f"{name} holds a number too large for double precision") from error
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name} must hold numbers: {error}") from error
    return floats


def refuse_masked(values: Any, name: str) -> None:
    """Masked values are missing ones."""
    if not isinstance(values, np.ma.MaskedArray):
        return
    places = np.argwhere(np.ma.getmaskarray(values))
    if len(places):
        raise ValueError(
            f"{name} has {len(places)} masked value(s), the first in row {places[0][0]}; drop "
            "those rows on both sides (a label without its row belongs to nobody) or fill them in"
        )


def refuse_dates(values: NDArray[Any], name: str) -> None:
    """Dates, times and durations are no numbers until somebody chooses their unit."""
    kind = kind_of_times(values)
    if kind is not None:
        raise ValueError(describe_dates(kind, name))


def kind_of_times(values: Any) -> str | None:
    """Whether an array or a column holds "dates" or "durations"; None where it holds neither."""
    if values.dtype.kind == "O":
        return next((found for found in map(_kind_of, np.ravel(values)) if found), None)
    return KINDS.get(values.dtype.kind)


def describe_dates(kind: str, name: str) -> str:
    """What was found, and how to make numbers of it; `kind` is "dates" or "durations"."""
    return f"{name} holds {kind}, not numbers; turn them into numbers first, {CURES[kind]}"


def _kind_of(value: Any) -> str | None:
    if isinstance(value, DATES) or type(value).__name__ in {"NaTType", "Period"}:
        return "dates"
    return "durations" if isinstance(value, DURATIONS) else None
