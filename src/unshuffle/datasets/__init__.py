"""Data to try things on: simulated with a known truth, and small real sets."""

from .boston import load_boston
from .simulated import ShuffledData, make_shuffled_regression

__all__ = ["ShuffledData", "load_boston", "make_shuffled_regression"]
