"""The baseline hazard in a stored model of Cox: event times and jumps, without any row's features.

A file with it has a schema of its own, since earlier versions read no such array.
"""

from typing import Any

import numpy as np

from ...kernels.types import FloatArray
from ..glm.results import Baseline

ARRAY = "baseline"


def array_of(model: Any) -> FloatArray | None:
    """Event times above jumps, shape (2, m); None for models without a baseline."""
    if not hasattr(model, "baseline_hazard_"):
        return None
    return np.stack([model.event_times_, model.baseline_hazard_])


def read_baseline(array: FloatArray | None) -> Baseline | None:
    """The baseline again; what is none is refused."""
    if array is None:
        return None
    times, hazard = array
    fine = np.isfinite(array).all() and len(times) and times[0] > 0.0
    if not (fine and np.all(np.diff(times) > 0.0) and np.all(hazard > 0.0)):
        raise ValueError("the baseline must have ascending event times and positive jumps")
    return Baseline(times, hazard)
