"""From the pair tables of linkage tools to what `fit` wants."""

from .calibration import Calibration
from .pairs import from_pairs
from .records import LinkedRecords

__all__ = ["Calibration", "LinkedRecords", "from_pairs"]
