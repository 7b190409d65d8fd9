"""`fit` of Hard EM, for normal labels and for other families."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

from ..families.catalogue import FAMILIES
from ..fits.glm.hard import HardFamilyFit, fit_hard_family
from ..fits.progress import Progress
from ..fits.settings import HardSettings
from ._attributes import forget, keep_iterations, keep_matches, warn_not_converged, warn_rank
from ._base import BaseShuffledRegressor
from ._family_predict import FamilyPrediction
from ._family_problem import family_problem
from ._progress import reporting


class FamilyHardRegressor(FamilyPrediction, BaseShuffledRegressor):
    """One most likely permutation at a time, of labels of any family."""

    verbose: int
    callback: Callable[[Progress], object] | None

    @abstractmethod
    def _settings(self, seed: int, n_features: int) -> HardSettings:
        """Translate the parameters into settings."""

    def fit(self, X: Any, y: Any, groups: Any = None, known: Any = None, **beside: Any) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels; inside each group they may stand in any order.
        groups : array-like of shape (n_samples,), optional
            Any hashable label per row. Labels have moved only inside their group. None means
            one group: a label may belong to any row.
        known : array-like of bool of shape (n_samples,), optional
            True where the label given beside a row is surely its own.
        **beside
            `offset` (added to the linear predictor) and `exposure` (whose logarithm is added), one
            number per row each.

        Returns
        -------
        self : object
            The fitted estimator. An interrupted or failed fit leaves an earlier one untouched.
        """
        if not self._wants_family(beside):
            return super().fit(X, y, groups, known)
        self._validate_params()
        family = FAMILIES[self.family]
        found = family_problem(
            self, family, X, y, groups, known, None, fit_intercept=self.fit_intercept, **beside
        )
        settings = self._settings(self._draw_seed(), found.given.X.shape[1])
        with self._workers() as workers:
            fit = fit_hard_family(
                found.data, family, settings, workers, names=found.names,
                reporting=reporting(self.verbose, self.callback),
            )  # fmt: skip
        forget(self, found.blank)
        self._problem, self._library = found.given, found.library
        _keep(self, fit)
        return self


def _keep(model: Any, fit: HardFamilyFit) -> None:
    """Set every fitted attribute, and warn where the answer needs a warning."""
    model._found = fit
    model.coef_, model.intercept_ = fit.coef, fit.intercept
    model.family_, model.dispersion_ = fit.family, fit.dispersion
    model.rank_, model.n_groups_ = fit.design.rank, fit.design.n_groups
    model.n_init_, model.restart_objectives_ = fit.n_init, fit.restart_objectives
    keep_iterations(model, fit.iterations)
    keep_matches(model, fit.matches)
    warn_rank(model, fit.design)
    if not model.converged_:
        warn_not_converged(model, model._convergence_advice)
