"""Scores of links to probabilities, learnt from links that somebody has checked."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from ..inference.intervals import to_logit
from ..kernels.types import BoolArray, FloatArray
from .settings import LINKAGE, LinkageSettings

METHODS = ("isotonic", "platt")


@dataclass(frozen=True, eq=False)
class Calibration:
    """A curve from the probability of the linkage tool to that of a right link.

    Attributes
    ----------
    method : {"isotonic", "platt"}
        Isotonic regression, or a logistic regression on the logit.
    n_checked, n_wrong : int
        Checked links that it was learnt from, and those among them that were wrong.
    losses : dict
        Mean negative log likelihood of held-out checked links by method, and "as given" of the
        probabilities before calibration.
    """

    method: str
    n_checked: int
    n_wrong: int
    losses: dict[str, float]
    _curve: Any

    def __call__(self, probability: FloatArray) -> FloatArray:
        """Calibrated probabilities."""
        return _inside(_predict(self._curve, probability))


def calibrate(
    probability: FloatArray,
    right: BoolArray,
    method: str = "auto",
    settings: LinkageSettings = LINKAGE,
) -> Calibration:
    """Learn a curve; "auto" takes the one that predicts held-out checked links better."""
    n, n_wrong = len(right), int(np.sum(~right))
    if n < settings.fewest_checked or min(n_wrong, n - n_wrong) < settings.fewest_of_kind:
        raise ValueError(
            f"{n} links were checked, {n_wrong} of them wrong; a calibration needs "
            f"{settings.fewest_checked} links drawn at random, {settings.fewest_of_kind} of either "
            "kind: check more, or use calibration='none' with MomentRegressor(mismatch_rate=Audit("
            f"{n}, {n_wrong}))"
        )
    folds = StratifiedKFold(min(settings.folds, n_wrong, n - n_wrong), shuffle=True, random_state=0)
    losses = {"as given": _loss(_inside(probability), right)}
    for name in METHODS:
        held_out = _held_out(name, probability, right, folds)
        losses[name] = _loss(held_out, right)
    chosen = min(METHODS, key=losses.__getitem__) if method == "auto" else method
    return Calibration(chosen, n, n_wrong, losses, _fit(chosen, probability, right))


def _held_out(name: str, probability: FloatArray, right: BoolArray, folds: Any) -> FloatArray:
    predicted = np.empty(len(right))
    for train, test in folds.split(probability, right):
        curve = _fit(name, probability[train], right[train])
        predicted[test] = _inside(_predict(curve, probability[test]))
    return predicted


def _fit(name: str, probability: FloatArray, right: BoolArray) -> Any:
    if name == "isotonic":
        curve = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
        return curve.fit(probability, right.astype(float))
    return LogisticRegression(C=1e3).fit(to_logit(probability)[:, None], right)


def _predict(curve: Any, probability: FloatArray) -> FloatArray:
    if isinstance(curve, IsotonicRegression):
        return np.asarray(curve.predict(probability))
    return np.asarray(curve.predict_proba(to_logit(probability)[:, None])[:, 1])


def _inside(probability: FloatArray) -> FloatArray:
    """Away from 0 and 1, which a sample cannot show."""
    return np.clip(probability, LINKAGE.margin, 1.0 - LINKAGE.margin)


def _loss(probability: FloatArray, right: BoolArray) -> float:
    return float(-np.mean(np.log(np.where(right, probability, 1.0 - probability))))
