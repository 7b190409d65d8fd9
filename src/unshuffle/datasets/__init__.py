"""Data to try things on: simulated with a known truth, and small real sets."""

from .aptamer import AptamerData, load_aptamers
from .binding import BindingData, load_binding
from .boston import BostonHousing, load_boston
from .kmers import KmerCounter
from .simulated import ShuffledData, make_shuffled_regression
from .sortseq import SortSeqData, load_sortseq

__all__ = [
    "AptamerData",
    "BindingData",
    "BostonHousing",
    "KmerCounter",
    "ShuffledData",
    "SortSeqData",
    "load_aptamers",
    "load_binding",
    "load_boston",
    "load_sortseq",
    "make_shuffled_regression",
]
