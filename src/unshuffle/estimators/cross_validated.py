"""The default estimator with its settings chosen by held-out groups."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ..exceptions import UnshuffleWarning
from ..fits.auto import fit_auto
from ..fits.auto_results import AutoFit
from ..fits.choice import ChoiceSettings, choose_setting
from ..fits.data import InMemory
from ..fits.progress import Progress
from ..fits.settings import AutoSettings
from ._attributes import stack_level
from ._family_choice import FamilyChoiceMethods
from ._progress import reporting
from ._validation import open_setting
from .shuffled import ShuffledRegressor

LAWS = {"normal", "t", "mixture"}


class ShuffledRegressorCV(FamilyChoiceMethods, ShuffledRegressor):
    r"""Linear regression on labels in lost order, with settings chosen by held-out groups.

    Where the order of labels is lost inside groups, how well a fit explains the labels that it was
    fitted to says little. Here whole groups are left out in turn, and the fit to the others is
    scored by the density of the labels left out, taken as sets:
    :math:`\log \frac{1}{m!} \sum_\pi \prod_i N(y_{\pi(i)}; \hat\mu_i, s^2)`. What is chosen: the
    start of EM (the best match of a search, or the labels as given), `temper`, `ridge` and, if
    several are given, the law of the noise, which then takes the place of N in the density. The
    setting chosen is then fitted to all groups, with all checks of `ShuffledRegressor`. Of other
    families, the family (if several are given) and the start of the chain are chosen, by the same
    density with the family's in the place of N.

    Parameters
    ----------
    cv : int, default=5
        Number of folds; whole groups go into a fold. With fewer than eight groups nothing is
        chosen: the rules of `ShuffledRegressor` decide, with a warning.
    tempers : tuple of float, default=(1.0, 1.5)
        Labels are aligned as if there were so many times the noise estimated.
    ridges : tuple of float or "auto", default="auto"
        Penalties on the squares of standardised coefficients, per row. "auto" is 0 and the one that
        `ShuffledRegressor` uses where it is cautious.
    noises : tuple of {"normal", "t", "mixture"}, default=("normal",)
        Laws of the noise. Others than the normal one are compared from the best match, without
        temper and ridge. They follow the likelihood, which on real data can lead away from
        least squares: read the check "agreement with normal noise" of the verdict.
    rule : {"one-standard-error", "best"}, default="one-standard-error"
        Which setting is taken: the plainest one whose loss against the best is at most its standard
        error over groups, or the best. Less ridge, then less temper, then the match as start is
        plainer: a fit without them has standard errors.
    family : {"normal", "poisson", "gamma", "negative-binomial"} or tuple, default="normal"
        Law of the labels; of several, the first whose loss is small. Labels must suit all of them,
        and densities of counts cannot be compared with those of other numbers. With another
        family than "normal" alone, `tempers`, `ridges` and `noises` must be left out.
    n_candidates, fit_intercept, covariance_type, n_jobs, random_state, verbose, callback
        See `ShuffledRegressor`.

    Attributes
    ----------
    cv_results_ : dict of arrays
        One entry per setting: "start", "temper", "ridge", "noise" (of other families: "family",
        "start"); "gain", the mean over folds of
        the gain in log density per held-out label, and "gain_by_fold"; "lost", the log density lost
        against the best setting, summed over groups, and "lost_error", its standard error.
    chosen_index_, best_index_ : int
        Entry of the setting that was chosen, and of the best one.
    temper_, ridge_, start_ : float, float, str
        The setting chosen.

    See Also
    --------
    ShuffledRegressor : All other attributes and methods.

    Examples
    --------
    >>> from unshuffle import ShuffledRegressorCV
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> data = make_shuffled_regression(
    ...     200, 3, noise=0.3, shuffle="groups", n_groups=40, random_state=0
    ... )
    >>> model = ShuffledRegressorCV(cv=3, random_state=0).fit(data.X, data.y, groups=data.groups)
    >>> model.temper_
    1.0
    >>> len(model.cv_results_["gain"])
    8
    """

    cv_results_: dict[str, Any]
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "cv": [Interval(Integral, 2, None, closed="left")],
        "tempers": ["array-like"],
        "ridges": [StrOptions({"auto"}), "array-like"],
        "noises": [StrOptions(LAWS), "array-like"],
        "rule": [StrOptions({"one-standard-error", "best"})],
        "family": [str, tuple, list],
        **{
            name: ShuffledRegressor._parameter_constraints[name]
            for name in (
                "n_candidates", "fit_intercept", "covariance_type", "n_jobs", "random_state",
                "verbose", "callback",
            )
        },
    }  # fmt: skip
    alignment = "auto"

    def __init__(
        self,
        *,
        cv: int = 5,
        tempers: tuple[float, ...] = (1.0, 1.5),
        ridges: tuple[float, ...] | str = "auto",
        noises: tuple[str, ...] = ("normal",),
        rule: str = "one-standard-error",
        family: str | tuple[str, ...] = "normal",
        n_candidates: int | str = "auto",
        fit_intercept: bool = True,
        covariance_type: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callable[[Progress], object] | None = None,
    ) -> None:
        self.cv = cv
        self.tempers = tempers
        self.ridges = ridges
        self.noises = noises
        self.rule = rule
        self.family = family  # type: ignore[assignment]
        self.n_candidates = n_candidates
        self.fit_intercept = fit_intercept
        self.covariance_type = covariance_type
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    _fits_unmatched = False

    def _compute(self, data: InMemory, seed: int) -> AutoFit:
        ridges = open_setting(self.ridges)
        compared = ChoiceSettings(
            n_folds=self.cv,
            tempers=_positive("tempers", self.tempers, zero=False),
            ridges=None if ridges is None else _positive("ridges", ridges, zero=True),
            noises=_laws(self.noises),
            rule=self.rule,
        )
        settings = AutoSettings(
            seed,
            pairing="lost",
            n_candidates=open_setting(self.n_candidates),
            fit_intercept=self.fit_intercept,
            covariance=self.covariance_type,
        )
        report = reporting(self.verbose, self.callback)
        if data.problem.n_groups < compared.fewest_groups:
            self._warn_few_groups(data.problem.n_groups, compared.fewest_groups)
            return fit_auto(data, settings, reporting=report)
        choice = choose_setting(data, settings, compared, reporting=report)
        start, temper, ridge, noise = choice.setting
        chosen = replace(settings, start=start, temper=temper, ridge=ridge, noise=noise)
        fit = fit_auto(data, chosen, reporting=report)
        return replace(fit, choice=choice)

    @staticmethod
    def _warn_few_groups(found: int, needed: int) -> None:
        groups = "1 group is" if found == 1 else f"{found} groups are"
        warnings.warn(
            f"{groups} too few to choose settings by held-out groups (good: {needed} or more); the "
            "rules of ShuffledRegressor decided, and there is no cv_results_",
            UnshuffleWarning,
            stacklevel=stack_level(),
        )


def _positive(name: str, values: Any, *, zero: bool) -> tuple[float, ...]:
    """Numbers that are positive, or zero where that is allowed."""
    numbers = np.asarray(values, dtype=object).ravel()
    fine = len(numbers) > 0 and all(
        isinstance(v, Real) and np.isfinite(float(v)) and (float(v) > 0 or (zero and v == 0))
        for v in numbers
    )
    if not fine:
        limit = "zero or above" if zero else "above zero"
        raise ValueError(f"{name} must hold at least one number, all {limit}; got {values!r}")
    return tuple(float(v) for v in numbers)


def _laws(values: Any) -> tuple[str, ...]:
    """Names of laws of the noise, each once."""
    names = (values,) if isinstance(values, str) else tuple(values)
    if not names or not set(names) <= LAWS:
        known = ", ".join(repr(name) for name in sorted(LAWS))
        raise ValueError(f"noises must hold one or more of {known}; got {values!r}")
    return tuple(dict.fromkeys(names))
