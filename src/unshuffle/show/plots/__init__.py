"""Pictures of fitted models, in scikit-learn's manner: ``Display.from_estimator(model)``.

They need matplotlib (``pip install "unshuffle[plots]"``), which is loaded when one is drawn.
"""

from .calibration import MatchCalibrationDisplay
from .choice import ChoiceDisplay
from .coefficients import CoefficientDisplay
from .match import MatchDisplay
from .match_model import MatchModelDisplay
from .path import PathDisplay
from .residuals import ResidualDisplay
from .sensitivity import SensitivityDisplay
from .solutions import SolutionsDisplay

__all__ = [
    "ChoiceDisplay",
    "CoefficientDisplay",
    "MatchCalibrationDisplay",
    "MatchDisplay",
    "MatchModelDisplay",
    "PathDisplay",
    "ResidualDisplay",
    "SensitivityDisplay",
    "SolutionsDisplay",
]
