"""Which styles of a workbook show numbers as dates or times."""

import re
from collections.abc import Mapping

from .archive import Part

# Formats of dates and times that every workbook has without declaring them.
DATES = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
NOT_SHOWN = re.compile(r'"[^"]*"|\\.|_.|\*.|\[[^\]]*\]')  # quoted, escaped, padding, colours
OF_TIME = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)  # elapsed hours, which look like colours


class Styles(Part):
    """Numbers of the styles that show dates."""

    def __init__(self) -> None:
        self.dates: set[str] = set()
        self._n_styles = 0
        self._formats = set(DATES)
        self._inside = False

    def start(self, name: str, values: Mapping[str, str]) -> None:
        """Formats are declared before the styles that use them."""
        if name == "numFmt" and is_date_format(values.get("formatCode", "")):
            self._formats.add(_number(values.get("numFmtId", "")))
        elif name == "cellXfs":
            self._inside = True
        elif name == "xf" and self._inside:
            if _number(values.get("numFmtId", "0")) in self._formats:
                self.dates.add(str(self._n_styles))
            self._n_styles += 1

    def end(self, name: str) -> None:
        """After the styles of cells come those of something else."""
        if name == "cellXfs":
            self._inside = False


def is_date_format(code: str) -> bool:
    """Whether a format shows a number as a date or a time.

    Examples
    --------
    >>> from unshuffle.io.workbook.styles import is_date_format
    >>> [is_date_format(code) for code in ("yyyy-mm-dd", "[h]:mm", '0.0" days"', "[Red]0.00")]
    [True, True, False, False]
    """
    if OF_TIME.search(code):
        return True
    return re.search("[dmyhs]", NOT_SHOWN.sub("", code), re.IGNORECASE) is not None


def _number(text: str) -> int:
    return int(text) if text.isdigit() and len(text) < 10 else -1
