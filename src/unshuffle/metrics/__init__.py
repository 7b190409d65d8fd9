"""How good a fit is: against the truth where it is known, and where the order of labels is lost.

`coefficient_error`, `coefficient_cosine` and `permutation_accuracy` need the truth.
`log_density_gain`, `matched_r2` and `matched_mse` need only labels whose order inside groups may
be lost; `log_density_scorer` and `matched_r2_scorer` are the same for model selection.
"""

from .density import LogDensityGain, log_density_gain
from .matched import matched_mse, matched_r2
from .scorers import log_density_scorer, matched_r2_scorer
from .truth import coefficient_cosine, coefficient_error, permutation_accuracy

__all__ = [
    "LogDensityGain",
    "coefficient_cosine",
    "coefficient_error",
    "log_density_gain",
    "log_density_scorer",
    "matched_mse",
    "matched_r2",
    "matched_r2_scorer",
    "permutation_accuracy",
]
