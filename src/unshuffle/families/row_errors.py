"""A number beside a row that cannot be: which row, which number, and what to do."""

import numpy as np

from ..kernels.types import FloatArray, IntArray

FEW = 0.05  # share of labels up to which they are taken for mistakes among the others


class RowError(ValueError):
    """A value that a rule forbids.

    Attributes
    ----------
    role : str
        What the value is: "label", "event", "offset", "exposure" or "sample_weight".
    row : int
        Number of the row, counted from 0.
    rule, found, advice : str
        What is allowed, what was found, and what to do.
    """

    def __init__(self, role: str, row: int, rule: str, found: str, advice: str) -> None:
        super().__init__(f"{rule}, but row {row} has {found}; {advice}")
        self.role, self.row = role, row
        self.rule, self.found, self.advice = rule, found, advice

    def at(self, row: int) -> "RowError":
        """The same error of another row."""
        return RowError(self.role, row, self.rule, self.found, self.advice)


def refuse_labels(labels: FloatArray, wrong: IntArray, rule: str) -> None:
    """Refuse the labels that are wrong, and name the family that would fit."""
    if len(wrong):
        first = int(wrong[0])
        advice = _advice(labels, wrong)
        raise RowError("label", first, rule, f"{labels[first]:g}", advice)


def _advice(labels: FloatArray, wrong: IntArray) -> str:
    whole = bool(np.all(labels == np.round(labels)) and np.all(labels >= 0))
    if len(wrong) <= FEW * len(labels) and not whole:
        those = "this one" if len(wrong) == 1 else f"these {len(wrong)}"
        return f"the other {len(labels) - len(wrong)} labels fit: mend or leave out {those}"
    if whole and np.isin(labels, (0, 1)).all():
        return "these are yes/no labels, for which there is ShuffledClassifier"
    if whole:
        return "these are counts, for which there is family='poisson'"
    if np.all(labels > 0):
        return "these are positive numbers, for which there is family='gamma'"
    kind = "numbers of both signs" if np.any(labels < 0) else "numbers from 0 on"
    return f"these are {kind}, for which there is family='normal'"
