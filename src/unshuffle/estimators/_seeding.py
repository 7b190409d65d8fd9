"""From `random_state` to the one number that every stream is keyed by."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state


def seed_from(random_state: Any) -> int:
    """Draw a 63-bit seed from `random_state`, in scikit-learn's sense of the word.

    An int gives the same seed every time; a ``RandomState`` moves on; None uses NumPy's global
    generator, so that ``np.random.seed`` makes a whole script repeatable.
    """
    return int(check_random_state(random_state).randint(2**63 - 1, dtype=np.int64))
