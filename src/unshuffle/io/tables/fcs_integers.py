"""Events of FCS files that are whole numbers.

flowio makes objects of values of several widths, or of the masks of their bits, which take forty
times the memory of the file.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...exceptions import TableError
from ..opening import open_regular

WIDTHS = (8, 16, 32)  # bits, as flowio reads them
ORDERS = {"1,2,3,4": "<", "1,2": "<", "4,3,2,1": ">", "2,1": ">"}


def holds_integers(flow: Any) -> bool:
    """Whether the values are whole numbers, by the keywords of a file."""
    return str(flow.data_type).lower() == "i"


def read_integers(path: Path, flow: Any) -> NDArray[Any]:
    """All values, event by event, as flowio gives them: without the bits above a channel's range.

    `flow` holds the keywords.
    """
    bits, order = _bits(flow), ORDERS.get(flow.text["byteord"])
    if order is None or not set(bits) <= set(WIDTHS) or flow.text["mode"].lower() != "l":
        raise TableError(
            path,
            f"holds numbers of {sorted(set(bits))} bits in the order {flow.text['byteord']!r}; "
            "only lists of 8, 16 and 32 bits are read",
        )
    kind = np.dtype([(str(j), f"{order}u{width // 8}") for j, width in enumerate(bits)])
    if flow.version == "2.0":
        start, stop = flow.header["data_start"], flow.header["data_stop"]
    else:
        start, stop = int(flow.text["begindata"]), int(flow.text["enddata"])
    with open_regular(path) as file:
        file.seek(start)
        content = file.read(max(stop - start + 1, 0))
    if len(content) % kind.itemsize:
        raise TableError(
            path, f"holds {len(content):,} bytes of events, but one takes {kind.itemsize}"
        )
    stored = np.frombuffer(content, kind)
    events = np.empty((len(stored), len(bits)), dtype=f"u{max(bits) // 8}")
    for j in range(len(bits)):
        highest = int(flow.text[f"p{j + 1}r"])
        events[:, j] = stored[str(j)] & np.uint32(min(_power(highest), 2**32) - 1)
    return events.ravel()


def _bits(flow: Any) -> list[int]:
    return [int(flow.text[f"p{j + 1}b"]) for j in range(flow.channel_count)]


def _power(value: int) -> int:
    """The next power of two."""
    return 1 if value <= 0 else 1 << (value - 1).bit_length()
