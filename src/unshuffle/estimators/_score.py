"""The score that belongs to the pairing of the labels it is computed from."""

import math
from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from ..fits.auto_results import AutoFit
from ..fits.results import HardFit, MixtureFit, StochasticFit
from ..metrics.density import log_density_gain
from ..metrics.given import finite_vector


class ScoreMethods:
    """`score` for estimators whose labels may be out of order."""

    # With metadata routing enabled, `groups` reaches score without further words.
    __metadata_request__score: ClassVar = {"groups": True}

    noise_scale_: float
    _found: StochasticFit | HardFit | MixtureFit | AutoFit

    def score(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> float:
        r"""Score labels; larger is better, 1 is perfect, 0 is what ignoring the features gives.

        - With `groups` the order of the labels inside groups is taken as lost, whatever the fit
          assumed. The score is :math:`1 - \exp(-2 g)`, where g is the gain in log density per
          label (`unshuffle.metrics.log_density_gain`).
        - Without `groups`, a fit that assumes labels in lost order is scored in the same way, all
          rows as one group. A fit inside several groups refuses: pass the groups of these rows.
        - Without `groups`, a fit that found some labels mismatched is scored by :math:`1 - \exp(-2
          g)` too, with g from the mixture of own and other rows' labels.
        - A fit to labels in known order, or in which none was found mismatched, is scored by R².

        In a search over settings pass the same `groups` for all of them; otherwise each would be
        scored by what it assumes itself.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            For R² alone.
        groups : array-like of shape (n_samples,), optional
            Labels may stand in any order inside each group.

        Returns
        -------
        score : float
        """
        check_is_fitted(self)
        pairing, rate = ("lost", 0.0) if groups is not None else self._assumed_pairing()
        labels = finite_vector(y, "y")
        model: Any = self
        predicted = model.predict(X)
        if pairing == "known":
            from sklearn.metrics import r2_score  # of which a fit needs nothing

            return float(r2_score(labels, predicted, sample_weight=sample_weight))
        if sample_weight is not None:
            raise ValueError(
                "sample_weight is for labels in known order; the density of labels whose order is "
                "lost has no weights: leave sample_weight out"
            )
        law = self._found.law if isinstance(self._found, AutoFit) else None
        found = log_density_gain(
            labels, predicted, self.noise_scale_, groups, pairing=pairing, mismatch_rate=rate,
            law=law.law if law is not None and pairing == "lost" else None,
        )  # fmt: skip
        return found.r2

    def _assumed_pairing(self) -> tuple[str, float]:
        """What the fit assumes of the order of labels, and the rate of mismatches."""
        fit = self._found
        if isinstance(fit, MixtureFit):
            return "mostly-right", float(fit.mismatch_rate)
        inner = fit.fit if isinstance(fit, AutoFit) else fit
        if (isinstance(fit, AutoFit) and fit.pairing == "known") or self._nothing_can_move():
            return "known", 0.0
        rate = _mismatch_rate(fit)
        if rate is not None:
            none_found = math.isnan(rate) or rate == 0.0
            return ("known", 0.0) if none_found else ("mostly-right", rate)
        if inner.design.n_groups > 1:
            raise ValueError(
                f"this fit took the order of labels inside {inner.design.n_groups:,} groups as "
                "lost, so labels cannot be scored one by one; pass the groups of these rows, "
                "score(X, y, groups=...), or use sklearn.metrics.r2_score(y, model.predict(X)) if "
                "these labels are in order"
            )
        return "lost", 0.0

    def _nothing_can_move(self) -> bool:
        """Whether every label was known to be its row's own."""
        problem = getattr(self, "_problem", None)
        return problem is not None and problem.n_movable == 0


def _mismatch_rate(fit: StochasticFit | HardFit | AutoFit) -> float | None:
    """Rate of mismatches of a fit that takes the order as mostly right; None for a lost order."""
    if isinstance(fit, HardFit):
        return None
    if isinstance(fit, AutoFit):
        lost, rate = fit.pairing == "lost", fit.fit.mismatch_rate
    else:
        posterior, rate = fit.permutations, fit.mismatch_rate
        lost = posterior is not None and not posterior.prior.mostly_right
    return None if lost or rate is None else float(rate)
