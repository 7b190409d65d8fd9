"""What every description of labels as given says of each row."""

from typing import Protocol

from ..kernels.types import FloatArray


class LabelFit(Protocol):
    """Which labels are their row's own, under a law of the noise or by their association."""

    @property
    def rate(self) -> float:
        """Rate of mismatches."""
        ...

    @property
    def fitted(self) -> FloatArray:
        """Fitted value of each row; shape (n,)."""
        ...

    @property
    def matched(self) -> FloatArray:
        """Probability that each row holds its own label; shape (n,)."""
        ...

    def expected(self, labels: FloatArray) -> FloatArray:
        """Expected own label of each row: the one given, or else the fitted value."""
        ...

    def pull(self, labels: FloatArray) -> FloatArray:
        """How fast the density of a label falls with its distance, times the distance."""
        ...
