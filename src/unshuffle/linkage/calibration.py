"""Scores of links to probabilities, learnt from links that somebody has checked."""

from collections.abc import Iterator
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
    held_out, right : arrays of shape (n_checked,)
        Calibrated probability of each checked link by a curve learnt from the others, and whether
        the link was right.

    Examples
    --------
    >>> import numpy as np
    >>> from unshuffle.linkage.calibration import calibrate
    >>> rng = np.random.default_rng(0)
    >>> score = rng.uniform(size=300)
    >>> found = calibrate(score, rng.random(300) < 0.5 + 0.5 * score)
    >>> bool(0.0 < found.standard_error(np.array([0.5]))[0] < 0.1)
    True
    """

    method: str
    n_checked: int
    n_wrong: int
    losses: dict[str, float]
    held_out: FloatArray
    right: BoolArray
    _curve: Any
    _replicates: list[Any]

    def __call__(self, probability: FloatArray) -> FloatArray:
        """Calibrated probabilities."""
        return _inside(_predict(self._curve, probability))

    def draws(self, probability: FloatArray) -> Iterator[FloatArray]:
        """Calibrated probabilities by curves learnt from bootstrap samples of the checked links.

        Parameters
        ----------
        probability : array of shape (n,)
            As the linkage tool gave them.

        Yields
        ------
        calibrated : array of shape (n,)
            By one of 40 curves.
        """
        for curve in self._replicates:
            yield _inside(_predict(curve, probability))

    def standard_error(self, probability: FloatArray) -> FloatArray:
        """Standard error of calibrated probabilities: the checked links are a sample.

        Parameters
        ----------
        probability : array of shape (n,)
            As the linkage tool gave them.

        Returns
        -------
        errors : array of shape (n,)
        """
        total, squares = np.zeros(len(probability)), np.zeros(len(probability))
        for drawn in self.draws(probability):
            total += drawn
            squares += drawn**2
        n = len(self._replicates)
        return np.sqrt(np.maximum(squares - total**2 / n, 0.0) / (n - 1))

    def reliability(self, n_bins: int = 5) -> dict[str, FloatArray]:
        """Held-out probabilities beside the share of right links, in bins of like size.

        Parameters
        ----------
        n_bins : int, default=5
            Bins of the checked links, sorted by their held-out probability.

        Returns
        -------
        table : dict of arrays of shape (n_bins,)
            "links", "expected" (mean held-out probability), "right" (share of right links) and
            "error" (standard error of that share).
        """
        if not 1 <= n_bins <= self.n_checked:
            raise ValueError(f"n_bins must lie between 1 and {self.n_checked}, got {n_bins}")
        bins = np.array_split(np.argsort(self.held_out, kind="stable"), n_bins)
        expected = np.array([self.held_out[rows].mean() for rows in bins])
        size = np.array([float(len(rows)) for rows in bins])
        share = np.array([self.right[rows].mean() for rows in bins])
        # Of the share that is expected, which is never 0 or 1.
        error = np.sqrt(expected * (1.0 - expected) / size)
        return {"links": size, "expected": expected, "right": share, "error": error}


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
    held_out = {name: _held_out(name, probability, right, folds) for name in METHODS}
    losses |= {name: _loss(predicted, right) for name, predicted in held_out.items()}
    chosen = min(METHODS, key=losses.__getitem__) if method == "auto" else method
    return Calibration(
        chosen,
        n,
        n_wrong,
        losses,
        held_out[chosen],
        right,
        _fit(chosen, probability, right),
        _replicate(chosen, probability, right, settings.replicates),
    )


def _replicate(
    name: str, probability: FloatArray, right: BoolArray, n_replicates: int
) -> list[Any]:
    """Curves of bootstrap samples; a sample of one kind has no curve and is drawn again."""
    rng, curves = np.random.default_rng(0), list[Any]()
    while len(curves) < n_replicates:
        rows = rng.integers(len(right), size=len(right))
        if 0 < right[rows].sum() < len(rows):
            curves.append(_fit(name, probability[rows], right[rows]))
    return curves


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
