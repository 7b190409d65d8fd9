"""The texts of a workbook, which its cells name by their numbers."""

import sys
from collections.abc import Mapping

from ..tables.limits import Budget
from .archive import Part
from .cells import TextCollector

SMALLEST = 64  # bytes of a text as an object


class Strings(Part):
    """All texts, in their order.

    Parameters
    ----------
    budget : Budget
        What the table may take; texts are counted as they are read.
    longest : int
        Characters of one text.
    """

    def __init__(self, budget: Budget, longest: int) -> None:
        self.found: list[str] = []
        self._budget = budget
        self._collect = TextCollector(budget.path, longest)
        self._seen: dict[str, str] = {}

    def start(self, name: str, values: Mapping[str, str]) -> None:
        """A text, or a piece of one."""
        self._collect.start(name)

    def text(self, text: str) -> None:
        """Characters."""
        self._collect.add(text)

    def end(self, name: str) -> None:
        """A text, or a piece of one, ends."""
        self._collect.end(name)
        if name == "si":
            whole = self._collect.take()
            if whole in self._seen:
                self._budget.take(SMALLEST, " with its texts")
            else:
                self._budget.take(sys.getsizeof(whole) + SMALLEST, " with its texts")
            self.found.append(self._seen.setdefault(whole, whole))
