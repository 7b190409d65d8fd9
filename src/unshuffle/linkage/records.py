"""Linked records: what `fit` wants, and what was left out."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from ..kernels.types import BoolArray, FloatArray, IntArray
from .calibration import Calibration


@dataclass(frozen=True, eq=False)
class LinkedRecords:
    """Two files, linked one-to-one.

    ``model.fit(linked.X, linked.y, match_prob=linked.match_prob)`` fits them.

    Attributes
    ----------
    X : data frame with n_links rows
        Features of the left records that were linked, in their order.
    y : array of shape (n_links,)
        Label of the right record linked to each row of X.
    match_prob : array of shape (n_links,)
        Probability that the link is right: calibrated where links were checked, 1 for links that
        were checked and are right.
    known : array of bool of shape (n_links,)
        Links that were checked and are right.
    match_features : data frame or None
        Further columns of the pairs, one row per link.
    names : list of str
        Names of the features.
    left_rows, right_rows : arrays of shape (n_links,)
        Row of each link in the two files.
    unlinked_left, unlinked_right : arrays of int
        Rows of records without a link.
    tied : array of bool of shape (n_links,)
        Links whose records have another pair of the same probability: either could be the right
        one.
    score : array of shape (n_links,)
        Probability of each link as the linkage tool gave it.
    calibration : Calibration or None
    counts : dict
        Records, pairs, links, ties, and what was left out.
    notes : list of str
        What a user should know: records swapped, pairs repeated, links taken greedily.
    """

    X: Any
    y: FloatArray
    match_prob: FloatArray
    known: BoolArray
    match_features: Any
    names: list[str]
    left_rows: IntArray
    right_rows: IntArray
    unlinked_left: IntArray
    unlinked_right: IntArray
    tied: BoolArray
    score: FloatArray
    calibration: Calibration | None
    counts: dict[str, int]
    notes: list[str] = field(default_factory=list)

    @property
    def match_prob_se(self) -> FloatArray:
        """Standard error of `match_prob` by the calibration; 0 for checked links, nan without."""
        if self.calibration is None:
            return np.full(len(self), np.nan)
        return np.where(self.known, 0.0, self.calibration.standard_error(self.score))

    @property
    def expected_wrong(self) -> float:
        """Share of the links that are expected to be wrong."""
        return float(1.0 - self.match_prob.mean())

    @property
    def expected_wrong_se(self) -> float:
        """Its standard error by the calibration; nan without one."""
        if self.calibration is None:
            return float("nan")
        return float(np.std([drawn.mean() for drawn in self.match_prob_draws()], ddof=1))

    def match_prob_draws(self) -> Iterator[FloatArray]:
        """`match_prob` by calibrations of bootstrap samples of the checked links, 40 of them."""
        if self.calibration is None:
            raise ValueError("nothing was calibrated: from_pairs needs checked links for that")
        for drawn in self.calibration.draws(self.score):
            yield np.where(self.known, 1.0, drawn)

    def calibrated_covariance(self, model: Any) -> FloatArray:
        """Covariance of the coefficients of a model with the uncertainty of the calibration.

        Copies of the model are fitted with each of `match_prob_draws`, and the covariance of their
        coefficients is added to that of the model.

        Parameters
        ----------
        model : estimator
            Fitted with ``match_prob=linked.match_prob``; it needs a `covariance_`, as
            `MomentRegressor`, `StochasticEMRegressor` and `ShuffledRegressor` have. Those that draw
            random numbers should have a `random_state`, or Monte Carlo error is added too.

        Returns
        -------
        covariance : array of shape (k, k)
            Of the intercept (when there is one) and the coefficients.
        """
        found = [
            clone(model).fit(self.X, self.y, match_prob=drawn) for drawn in self.match_prob_draws()
        ]
        values = np.array([[*np.atleast_1d(fit.intercept_), *fit.coef_] for fit in found])
        kept = values[:, 1 - int(model.fit_intercept) :]
        return np.asarray(model.covariance_ + np.cov(kept.T).reshape(model.covariance_.shape))

    def __len__(self) -> int:
        return len(self.y)

    def __repr__(self) -> str:
        c = self.counts
        lines = [
            f"LinkedRecords: {c['links']:,} one-to-one links from {c['pairs']:,} candidate pairs",
            f"  left: {c['left']:,} records, {len(self.unlinked_left):,} without a link; "
            f"right: {c['right']:,} records, {len(self.unlinked_right):,} without a link",
            f"  expected wrong links: {self.expected_wrong:.1%}"
            f"{self._calibrated()}; ties: {c['ties']:,}",
            f"  features: {', '.join(self.names[:8])}{', ...' if len(self.names) > 8 else ''}",
        ]
        return "\n".join(lines + [f"  note: {note}" for note in self.notes])

    def _calibrated(self) -> str:
        found = self.calibration
        if found is None:
            return " (probabilities as given)"
        name = {"isotonic": "isotonic regression", "platt": "logistic regression"}[found.method]
        return (
            f" (se {self.expected_wrong_se:.1%}, by {name} on {found.n_checked} checked links, "
            f"{found.n_wrong} wrong)"
        )
