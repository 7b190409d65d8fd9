"""The scores for labels in lost order, as scikit-learn scorers."""

from collections.abc import Callable
from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from .density import log_density_gain
from .matched import matched_r2


class GroupScorer(BaseEstimator):  # type: ignore[misc]
    """A score of labels whose order inside groups is lost; larger is better.

    With metadata routing enabled `groups` reaches it without further words.

    Parameters
    ----------
    function : callable
        Takes a fitted estimator, features, labels and groups.
    """

    __metadata_request__score: ClassVar = {"groups": True}

    def __init__(self, function: Callable[..., float]) -> None:
        self.function = function

    def __call__(self, estimator: Any, X: Any, y: Any, groups: Any = None) -> float:
        """Score a fitted estimator."""
        return self.function(estimator, X, y, groups)

    def score(self, estimator: Any, X: Any, y: Any, groups: Any = None) -> float:
        """The same, under the name by which scikit-learn routes `groups`."""
        return self(estimator, X, y, groups)


def _gain(estimator: Any, X: Any, y: Any, groups: Any) -> float:
    return log_density_gain(y, estimator.predict(X), estimator.noise_scale_, groups).gain


def _matched_r2(estimator: Any, X: Any, y: Any, groups: Any) -> float:
    return matched_r2(y, estimator.predict(X), groups)


log_density_scorer = GroupScorer(_gain)
matched_r2_scorer = GroupScorer(_matched_r2)
