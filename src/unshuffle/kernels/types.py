"""Names of the arrays that pass between functions."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
# Columns of features, which fits in passes take in either precision.
Features: TypeAlias = NDArray[np.float64] | NDArray[np.float32]
