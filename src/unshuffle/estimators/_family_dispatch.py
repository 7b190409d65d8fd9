"""Estimators of normal labels that also take other families: which way a call goes."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self, TypeVar, cast

from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..families.catalogue import FAMILIES
from ..fits.audited import rate_of
from ..fits.glm.settings import GlmSettings
from ..inference.audited_rate import Audit
from ..inference.bootstrap import BootstrapResult
from ..inference.posterior import Posterior
from ..kernels.types import FloatArray
from ..show.summary import Summary
from ._family import FamilyMethods, rate_setting
from ._family_predict import FamilyPrediction, refuse_settings
from ._progress import reporting

Method = TypeVar("Method", bound=Callable[..., object])
# After it, in the order of methods, the estimators of normal labels follow.
LAST_OF_FAMILIES = FamilyMethods.__mro__[-2]


def where_there(name: str) -> Callable[[Method], Method]:
    """A method that only some fits have: those of families, and estimators that define it."""

    def check(model: Any) -> bool:
        return model._has_family or hasattr(super(LAST_OF_FAMILIES, model), name)

    return cast(Callable[[Method], Method], available_if(check))


def refuse_strata(strata: Any) -> None:
    """Strata have rates of mismatches, which families take one for all rows or as match_prob."""
    if strata is not None:
        raise ValueError("strata are for family='normal' without weights and offsets")


class FamilyDispatch(FamilyPrediction, FamilyMethods):
    """Fits of other families go one way, those of normal labels the way they always went."""

    mismatch_rate: float | str | Audit | Mapping[Any, Any] | None
    _pairing_of_family: ClassVar[str | None] = None
    _refused_by_families: ClassVar[dict[str, str]] = {
        **dict.fromkeys(("search", "temper", "ridge", "noise", "alignment"), "leave it out"),
        "n_candidates": "leave it out",
        "mismatch_rate_max": "give mismatch_rate or match_prob",
    }

    def _refuse_clues(self, match_features: Any) -> None:
        if match_features is not None:
            raise ValueError(
                f"match_features are for family='normal' without weights and offsets, not for "
                f"family={self.family!r}; give match_prob"
            )

    def _fit_dispatched(
        self,
        X: Any,
        y: Any,
        groups: Any,
        known: Any,
        match_prob: Any,
        beside: dict[str, Any],
        *,
        pairing: str | None = None,
    ) -> Self:
        model: Any = self
        model._validate_params()
        refuse_settings(model, self._refused_by_families)
        if getattr(self, "covariance_type", "auto") == "robust":
            raise ValueError(
                "covariance_type='robust' is for family='normal' without weights and offsets; "
                "summary(covariance='robust') and conf_int(method='sandwich') have robust standard "
                "errors of other families"
            )
        if isinstance(self.mismatch_rate, Mapping):
            raise ValueError(
                "a mismatch_rate per stratum is for family='normal' without weights and offsets; "
                "give match_prob, whose uncertainty the standard errors leave out"
            )
        settings = GlmSettings(
            model._draw_seed(),
            pairing=pairing or self._family_pairing(match_prob),
            mismatch_rate=rate_setting(rate_of(self.mismatch_rate)),
            audit=self.mismatch_rate if isinstance(self.mismatch_rate, Audit) else None,
            fit_intercept=self.fit_intercept,
        )
        report = reporting(getattr(self, "verbose", 0), getattr(self, "callback", None))
        with model._workers() as workers:
            return self._fit_family(
                FAMILIES[self.family], settings, X, y, groups, known, match_prob,
                workers=workers, reporting=report, **beside,
            )  # fmt: skip

    def _family_pairing(self, match_prob: Any) -> str:
        """What the order given is taken for."""
        model: Any = self
        return self._pairing_of_family or str(model.pairing)

    @where_there("conf_int")
    def conf_int(self, level: float = 0.95, method: str = "auto", **options: Any) -> FloatArray:
        """Confidence intervals of the coefficients; see `ShuffledRegressor`."""
        if self._has_family:
            return super().conf_int(level, method, **options)
        found: FloatArray = self._beyond.conf_int(level, method, **options)
        return found

    @where_there("bootstrap")
    def bootstrap(
        self,
        n_boot: int = 200,
        *,
        resample: str = "labels",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> BootstrapResult:
        """Intervals from fits to simulated labels, or to rows and groups drawn with replacement.

        Parameters
        ----------
        n_boot : int, default=200
            Replicates.
        resample : {"labels", "groups"}, default="labels"
            For normal labels: simulated labels, or, for fits with ``unmatched="model"``, whole
            groups drawn with replacement. Other families choose by themselves, see the notes.
        random_state : int, RandomState or None, default=None
            Seed of the replicates. None takes the seed of the fit, so that the answer can be had
            again.
        n_jobs : int, default=None
            Threads over replicates; None takes `n_jobs` of the estimator. The answer does not
            depend on it.
        verbose : int, default=0
            1 shows a progress bar.

        Returns
        -------
        result : BootstrapResult
            With `draws`, `standard_errors`, `interval(level)` and `mismatch_rate_interval(level)`.

        Notes
        -----
        For normal labels the bootstrap is parametric: labels are drawn from the fitted coefficients
        and noise, shuffled as the model says (inside groups, or at the fitted rate of mismatches,
        or not at all), and fitted with the same settings from the coefficients found. For other
        families groups are drawn where the order is lost, and where it is mostly right inside 30
        groups or more, and otherwise rows with their labels. Neither shows whether another optimum
        might be the right one, which the verdict is about.
        """
        options: dict[str, Any] = {
            "random_state": random_state, "n_jobs": n_jobs, "verbose": verbose,
        }  # fmt: skip
        if self._has_family:
            if resample != "labels":
                raise ValueError(
                    f"resample={resample!r} is for normal labels with unmatched='model'; leave it "
                    "out: other families draw groups or rows by themselves"
                )
            return super().bootstrap(n_boot, **options)
        found: BootstrapResult = self._beyond.bootstrap(n_boot, resample=resample, **options)
        return found

    @where_there("posterior")
    def posterior(
        self,
        *,
        n_chains: int = 4,
        n_draws: int = 1000,
        n_warmup: int = 500,
        thin: int = 1,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> Posterior:
        r"""Draw from the posterior over coefficients, noise, permutation and rate of mismatches.

        For normal labels the model is :math:`y_{\pi(i)} = m + u_i^\top \theta + \varepsilon_i`,
        :math:`\varepsilon_i \sim N(0, s^2)`, in an orthonormal basis of the (centred) columns of X,
        with the belief about permutations of the fit: uniform inside groups, or with few
        mismatches. The priors of the parameters are proper and wide. With :math:`\bar y` and
        :math:`\tau` the mean and the standard deviation of the labels,

        .. math::

            \theta_j \sim N(0, 100\, n \tau^2), \quad m \sim N(\bar y, 100\, \tau^2), \quad
            s \sim \text{half-}t_3(\tau), \quad \alpha \sim U(0, 1),

        where the rate :math:`\alpha` is drawn only if the fit estimated it. A `temper` or `ridge`
        of the fit plays no role. Other families have the likelihood of their fit, the same
        priors for linear predictors with :math:`\tau = 1`, and a half-t prior for the root of
        the dispersion.

        Parameters
        ----------
        n_chains : int, default=4
            Chains. They start at the distinct optima of a search, where there was one, and
            scattered around the fit.
        n_draws : int, default=1000
            Draws kept of each chain.
        n_warmup : int, default=500
            Iterations of each chain that are forgotten; proposals adapt during these alone.
        thin : int, default=1
            Iterations between two draws that are kept.
        random_state : int, RandomState or None, default=None
            Seed; None takes that of the fit, so that the same fit has the same posterior.
        n_jobs : int, default=None
            Threads, over chains; None takes that of the estimator. The draws do not depend on it.
        verbose : int, default=0
            1 shows a progress bar.

        Returns
        -------
        posterior : Posterior
            Draws, intervals, R-hat and effective sample sizes.

        Warns
        -----
        MixingWarning
            Where some R-hat is above 1.01 or some effective sample size below 400.

        Notes
        -----
        An iteration costs O(n d) and keeps a copy of X in the orthonormal basis.
        """
        options: dict[str, Any] = {
            "n_chains": n_chains, "n_draws": n_draws, "n_warmup": n_warmup, "thin": thin,
            "random_state": random_state, "n_jobs": n_jobs, "verbose": verbose,
        }  # fmt: skip
        if self._has_family:
            return super().posterior(**options)
        found: Posterior = self._beyond.posterior(**options)
        return found

    @where_there("covariance")
    def covariance(self, method: str = "auto") -> FloatArray:
        """Covariance of the coefficients; see `conf_int`."""
        found: FloatArray
        found = super().covariance(method) if self._has_family else self._beyond.covariance(method)
        return found

    @where_there("mismatch_rate_interval")
    def mismatch_rate_interval(
        self, level: float = 0.95, method: str = "auto", **options: Any
    ) -> FloatArray:
        """Confidence interval of the rate of mismatches; see `conf_int`."""
        if self._has_family:
            return super().mismatch_rate_interval(level, method, **options)
        found: FloatArray = self._beyond.mismatch_rate_interval(level, method, **options)
        return found

    @where_there("summary")
    def summary(
        self, level: float = 0.95, covariance: str = "auto", *, ratios: bool = False
    ) -> Summary:
        """Table of coefficients beside those of the labels as given, verdict first.

        Parameters
        ----------
        level : float, default=0.95
            Level of the confidence intervals.
        covariance : {"auto", "model", "robust"}, default="auto"
            Standard errors: those of the fit, from the information, or from the sandwich.
        ratios : bool, default=False
            Show exponentials of the coefficients, for families whose coefficients are logs.

        Returns
        -------
        summary : Summary
            Prints as text, shows as HTML in a notebook; has `to_frame`, `to_latex`, `to_dict`.
        """
        if self._has_family:
            return super().summary(level, covariance, ratios=ratios)
        if ratios:
            raise ValueError("coefficients of family 'normal' are not logs of ratios")
        found: Summary = self._beyond.summary(level, covariance)
        return found

    @where_there("suspects")
    def suspects(self, threshold: float = 0.5, *, n_partners: int = 3, id: Any = None) -> Any:
        """Rows whose label is probably not their own, or far off, and whose it may be instead.

        Parameters
        ----------
        threshold : float, default=0.5
            Rows with a lower probability of holding a label that is their own and not far off
            are listed.
        n_partners : int, default=3
            Most partners named for each row; `MixtureRegressor` names none for normal labels.
        id : array-like of shape (n_samples,), optional
            Names of the rows; they come as the columns `id`, `partner_1_id`, ...

        Returns
        -------
        table : data frame
            Of the library that the data of the fit came in; pandas for arrays. One line per
            suspect, the least likely match first: `row`, its `label`, `match_proba`, and
            `partner_1`, `partner_1_proba`, ...: the rows beside which its own label may stand, and
            how probable that is.
        """
        if self._has_family:
            return super().suspects(threshold, n_partners=n_partners, id=id)
        return self._beyond.suspects(threshold, n_partners=n_partners, id=id)

    @property
    def _beyond(self) -> Any:
        """The estimator of normal labels, behind the methods of families."""
        check_is_fitted(self)
        return super(LAST_OF_FAMILIES, self)
