"""FCS files of cytometers, through flowio; every size a file declares is checked first."""

import os
import re
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...exceptions import TableError
from ...kernels.types import FloatArray
from ..amounts import amount
from ..opening import open_regular
from ..settings import READ, ReadSettings
from .fcs_integers import holds_integers, read_integers
from .header import check_names
from .limits import check_size, check_width
from .missing import NONE_WHOLE, MissingRows
from .table import ColumnTable

SEGMENTS = {"TEXT": (10, 18), "DATA": (26, 34), "ANALYSIS": (42, 50)}
HEADER = 58
SIZES = b"TOT|PAR|(?:BEGIN|END)(?:DATA|ANALYSIS|STEXT)"
SMALLEST_VALUE = 1  # byte
MOST_DIGITS = 20  # FCS pads its numbers with blanks or zeros


@dataclass(frozen=True)
class FcsFile:
    """An FCS file; its columns are the channels, by their short names ($PnN).

    Attributes
    ----------
    path : Path
    settings : ReadSettings
    """

    path: Path
    settings: ReadSettings = READ

    @cached_property
    def names(self) -> list[str]:
        """Short names of the channels."""
        names = [str(name).strip() for name in self._open(only_text=True).pnn_labels]
        check_width(self.path, len(names), self.settings)
        check_names(self.path, names)
        return names

    def read(
        self,
        columns: Sequence[str],
        text: Collection[str] = (),
        numbers: Collection[str] = (),
        *,
        blanks: Collection[str] = (),
        drop_missing: bool = False,
    ) -> ColumnTable:
        """Read some channels on their linear scale; those in `text` as names.

        No value of a channel may be missing, also of those in `blanks`.
        """
        flow = self._open(only_text=True)
        if not holds_integers(flow):
            flow = self._open(only_text=False)
        with _damage(self.path):
            if holds_integers(flow):
                flow.events = read_integers(self.path, flow)
            events = flow.as_array()
        if events.shape != (flow.event_count, len(self.names)):
            raise TableError(
                self.path,
                f"declares {flow.event_count} events of {flow.channel_count} channels but holds "
                f"{events.size} values for {len(self.names)} channels",
            )
        if not len(events):
            raise TableError(self.path, "holds no events")
        places = {name: j for j, name in enumerate(self.names)}
        found = {name: np.ascontiguousarray(events[:, places[name]]) for name in columns}
        n_events, missing = len(events), None
        del events, flow  # before names are made, which take as much again
        if drop_missing:
            missing = MissingRows()
            stays = missing.keep({name: np.isnan(values) for name, values in found.items()})
            n_events, found = int(stays.sum()), {name: v[stays] for name, v in found.items()}
            if not n_events:
                raise TableError(self.path, NONE_WHOLE)
        for name in columns:
            wrong = np.flatnonzero(~np.isfinite(found[name]))
            if len(wrong):
                raise TableError(
                    self.path,
                    f"{found[name][wrong[0]]} is not a finite number",
                    place=f"event {(wrong if missing is None else missing.kept[wrong])[0] + 1}",
                    column=name,
                )
            if name in text:
                found[name] = _names(found[name])
        return ColumnTable(self.path, found, n_events, missing=missing)

    def _open(self, *, only_text: bool) -> Any:
        import flowio

        self._check_declared()
        with _damage(self.path), open_regular(self.path) as file:
            return flowio.FlowData(file, only_text=only_text)

    def _check_declared(self) -> None:
        """Offsets must lie inside the file, and the events must fit into it."""
        with open_regular(self.path) as file:
            size = os.fstat(file.fileno()).st_size
            header = file.read(HEADER)
            if not header.startswith(b"FCS") or len(header) < HEADER:
                raise TableError(self.path, "does not start like an FCS file")
            places = {name: [_offset(header, k) for k in ends] for name, ends in SEGMENTS.items()}
            for name, (start, end) in places.items():
                if not 0 <= start <= size or not -1 <= end <= size:
                    self._refuse(f"its {name} segment is declared at {start}-{end}", size)
            start, end = places["TEXT"]
            if not HEADER <= start < end:
                self._refuse(f"its TEXT segment is declared at {start}-{end}", size)
            self._check_keywords("TEXT", start, end)
            file.seek(start)
            text = file.read(end - start + 1)
        declared = self._declared(text)
        for key, value in declared.items():
            if key.startswith(("BEGIN", "END")) and value > size:
                self._refuse(f"${key} is {value}", size)
        self._check_keywords("ANALYSIS", *places["ANALYSIS"])
        self._check_keywords(
            "ANALYSIS", declared.get("BEGINANALYSIS", 0), declared.get("ENDANALYSIS", 0)
        )
        n_events, n_channels = declared.get("TOT", 0), declared.get("PAR", 0)
        check_width(self.path, n_channels, self.settings)
        if n_events * n_channels * SMALLEST_VALUE > size:
            self._refuse(f"{n_events:,} events of {n_channels} channels are declared", size)
        check_size(self.path, n_events, 2 * n_channels, self.settings)  # as stored, and as floats

    def _declared(self, text: bytes) -> dict[str, int]:
        """Sizes that the keywords declare, found like flowio finds them: wherever a $ stands."""
        mark = re.escape(text[:1])
        found = re.findall(
            b"(?<=" + mark + b")(" + SIZES + b")" + mark + b"([^" + mark + b"]*)",
            text.replace(b"$", b""), re.IGNORECASE,
        )  # fmt: skip
        declared: dict[str, int] = {}
        for key, value in found:
            name = key.decode().upper()
            if not value.strip().isdigit() or len(value) > MOST_DIGITS:
                shown = value[:MOST_DIGITS].decode("latin-1")
                raise TableError(self.path, f"${name} is {shown!r}, which is no size")
            declared[name] = max(int(value), declared.get(name, 0))
        return declared

    def _check_keywords(self, name: str, start: int, end: int) -> None:
        """Keywords become many small objects, so that they are bounded more tightly than events."""
        if end - start > self.settings.fcs_text:
            raise TableError(
                self.path,
                f"its {name} segment has {amount(end - start)}; at most "
                f"{amount(self.settings.fcs_text)} of keywords are read",
            )

    def _refuse(self, found: str, size: int) -> None:
        raise TableError(
            self.path, f"{found}, but the file has {size:,} bytes; it is damaged or cut short"
        )


def _names(values: FloatArray) -> NDArray[Any]:
    """Numbers as names, each different one made once."""
    different = np.unique(values)
    names: NDArray[Any] = np.array([f"{value:g}" for value in different], dtype=object)
    return np.asarray(names[np.searchsorted(different, values)])


@contextmanager
def _damage(path: Path) -> Iterator[None]:
    """Turn any error or warning of the parser into one error that names the file."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            yield
        except TableError:
            raise
        except Exception as error:
            what = f"{type(error).__name__}: {error}".splitlines()[0]
            raise TableError(path, f"cannot be read as FCS ({what})") from error


def _offset(header: bytes, start: int) -> int:
    field = header[start : start + 8].strip()
    return int(field) if field.isdigit() else -1 if field else 0
