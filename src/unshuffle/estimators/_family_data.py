"""What families take beside rows and labels: weights, offsets, exposures, times with events."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.numbers import as_floats
from ..families.row_errors import RowError
from ..io.frames import column_names, library_of, plain_column
from ..kernels.types import FloatArray

LARGEST_OFFSET = 50.0  # a factor of 5e21
EVENTS = "events must be True or False (or 1 or 0)"
COLUMNS = "the column of events comes first, that of times second"


def check_weights(weights: Any, n_rows: int) -> FloatArray | None:
    """One weight per row, none negative, not all zero."""
    found = _check_column(weights, "sample_weight", n_rows)
    if found is None:
        return None
    wrong = np.flatnonzero(found < 0.0)
    if len(wrong):
        raise RowError(
            "sample_weight", int(wrong[0]), "sample_weight must not be negative",
            f"{found[wrong[0]]:g}", "a weight says how many rows a row stands for",
        )  # fmt: skip
    if not found.any():
        raise ValueError("sample_weight is zero in all rows, so that there is nothing to fit")
    return found


def check_offset(offset: Any, exposure: Any, n_rows: int) -> FloatArray | None:
    """Offset of the linear predictor: as given, or the logarithm of the exposure, or both."""
    shift = _check_column(offset, "offset", n_rows)
    exposed = _check_column(exposure, "exposure", n_rows)
    if exposed is None:
        return shift
    wrong = np.flatnonzero(exposed <= 0.0)
    if len(wrong):
        raise RowError(
            "exposure", int(wrong[0]), "exposure must be positive", f"{exposed[wrong[0]]:g}",
            "a row that was never exposed has no rate: leave it out, with its label",
        )  # fmt: skip
    logs: FloatArray = np.log(exposed)
    return logs if shift is None else logs + shift


def check_offset_size(shift: FloatArray | None, family: str) -> None:
    """Refuse offsets whose exponentials leave what a fit can tell apart."""
    if shift is None or family == "normal":
        return
    wrong = np.flatnonzero(np.abs(shift) > LARGEST_OFFSET)
    if len(wrong):
        raise RowError(
            "offset", int(wrong[0]),
            f"offsets, and logarithms of exposures, must lie within {LARGEST_OFFSET:g} of 0",
            f"{shift[wrong[0]]:g}",
            "give the logarithm of the exposure, or choose another unit for it",
        )  # fmt: skip


def _check_column(values: Any, name: str, n_rows: int) -> FloatArray | None:
    if values is None:
        return None
    found = as_floats(plain_column(values), name)
    if found.ndim == 0:
        found = np.full(n_rows, float(found))
    if found.shape != (n_rows,):
        raise ValueError(
            f"{name} has shape {found.shape} but there are {n_rows} rows; give a 1D array with one "
            "number per row (Sample weights must be 1D array or scalar)"
        )
    wrong = np.flatnonzero(~np.isfinite(found))
    if len(wrong):
        raise ValueError(f"{name} is missing or infinite in row {wrong[0]}; fill it in")
    return found


def split_times(y: Any) -> tuple[FloatArray, FloatArray]:
    """Times and events from scikit-survival's structured array, or from two columns."""
    columns = _two_columns(y)
    event, time = (plain_column(column) for column in columns)
    return as_floats(time, "the times"), _as_events(np.asarray(event))


def _two_columns(y: Any) -> tuple[Any, Any]:
    if y is None:
        raise ValueError("ShuffledCoxRegressor requires y to be passed, but the target y is None")
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names is not None and library_of(y) is None:
        if len(names) != 2:
            raise ValueError(
                f"y has the fields {list(names)}; give two, the event (True or False) and the time"
            )
        return y[names[0]], y[names[1]]
    if library_of(y) is not None and hasattr(y, "shape") and len(y.shape) == 2:
        found = column_names(y)
        if len(found) == 2:
            return y[found[0]], y[found[1]]
    table = np.asarray(y)
    if table.ndim != 2 or table.shape[1] != 2:
        raise ValueError(
            f"y has shape {table.shape}; give a structured array with the fields event and time, "
            "as scikit-survival does, or two columns: events, then times"
        )
    return table[:, 0], table[:, 1]


def _as_events(event: NDArray[Any]) -> FloatArray:
    if event.dtype.kind == "b":
        return event.astype(np.float64)
    if event.dtype.kind in "OUS":
        event = _numbers_or_truths(event)
    found = as_floats(event, "the events")
    wrong = np.flatnonzero((found != 0.0) & (found != 1.0))
    if len(wrong):
        raise RowError("event", int(wrong[0]), EVENTS, f"{found[wrong[0]]:g}", COLUMNS)
    return found


def _numbers_or_truths(event: NDArray[Any]) -> NDArray[Any]:
    """Events of any objects; text is refused with its row."""
    for row, value in enumerate(event):
        if isinstance(value, str | bytes):
            raise RowError("event", row, EVENTS, repr(value), COLUMNS)
    return event
