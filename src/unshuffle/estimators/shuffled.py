"""The default estimator: it finds out what kind of shuffle it is and fits accordingly."""

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Self

from sklearn.utils._param_validation import Interval, StrOptions

from ..em.settings import DEFAULTS
from ..families.catalogue import REGRESSIONS
from ..fits.audited import rate_of
from ..fits.auto import fit_auto
from ..fits.auto_results import AutoFit
from ..fits.data import InMemory
from ..fits.progress import Progress
from ..fits.settings import AutoSettings, StochasticSettings
from ..inference.audited_rate import Audit
from ..inference.verdict import Verdict
from ._family_fit import FamilyRegressor
from ._missing_labels import MissingLabelsRegressor
from ._progress import reporting
from ._rates import GIVEN_RATES
from ._unmatched import fit_two_tables
from ._validation import open_setting


class ShuffledRegressor(FamilyRegressor, MissingLabelsRegressor):
    r"""Linear regression when the pairing between rows and labels is lost, wholly or in part.

    The model is :math:`y_{\pi(i)} = b + x_i^\top w + \varepsilon_i` with an unknown permutation
    :math:`\pi` that moves labels inside groups only. `fit`

    1. tests whether the order given carries information (a permutation test inside groups);
    2. where it does, estimates the rate of mismatches and the law of the noise, and tests whether
       any labels are exchanged. A fit with mismatches is the answer if they are and if it is
       consistent with least squares: for a share :math:`a` of exchanged labels least squares on
       the labels as given estimates :math:`(1 - a) w`, whatever the law of the noise. Otherwise
       the answer is least squares with robust standard errors. Normal noise is fitted with a prior
       for few mismatches (`StochasticEMRegressor` with ``mismatch_rate="estimate"``), other noise
       by least squares on expected labels;
    3. where it does not, searches globally for the matching of least squares
       :math:`\min_{w, b, \pi} \sum_i (y_{\pi(i)} - b - x_i^\top w)^2`, proves the optimum for up to
       three features, asks whether unrelated labels could be matched as well, and averages over
       permutations by Stochastic EM from there, around a curve where a plane does not hold;
    4. where unrelated labels match as well, starts Stochastic EM from known rows and group means,
       if there are enough, or from the labels as given, with inflated noise and a ridge.

    Parameters
    ----------
    pairing : {"auto", "lost", "mostly-right", "known"}, default="auto"
        What is assumed of the order given. "auto" tests it.
    mismatch_rate : float, Audit, mapping or "estimate", default="estimate"
        Share of rows not holding their own label, where the order is mostly right. The uncertainty
        of an `Audit` enters the standard errors. A mapping has a rate or an `Audit` per stratum.
    mismatch_rate_max : float, optional
        Bound on the mean rate of mismatches, for fits with `match_features`.
    search : {"auto", "none", "population"}, default="auto"
        Initial values when the order is lost. "auto" searches and falls back to caution when
        unrelated labels match as well; "population" uses the best match in any case;
        "none" starts from the labels as given.
    n_candidates : int or "auto", default="auto"
        Most starting points of the search. "auto" is 500, doubled for each direction of the
        features that group means say nothing about (at most ten times; five times where there
        are more than twelve such directions), within a bound on the work of half a minute.
    alignment : {"auto", "chain", "sinkhorn", "exact"}, default="auto"
        How expected labels are found, see `StochasticEMRegressor`. "auto" is the chain, which
        measured best.
    noise : {"auto", "normal", "t", "mixture"}, default="auto"
        Law of the noise: normal, Student's t, or a mixture of up to three normals. Where the order
        given is used, "t" and "mixture" are fitted by maximum likelihood, while "auto" chooses a
        law by BIC to find mismatches, with least squares for the slopes; it is normal where the
        order is lost. Named laws are precise, but mislead where noise depends on the features.
    temper : float or "auto", default="auto"
        Labels are aligned as if there were `temper` times the noise estimated, from 1e-6 to 1e6.
        "auto" is 1.5 where the order is lost, no match is better than those of unrelated labels,
        and there are too few known rows and groups to start from; it is 1 otherwise. With eight
        groups or more, held-out groups choose between 1.5 and 3 (see `cv_results_`).
    ridge : float or "auto", default="auto"
        Penalty on the squares of standardised coefficients, per row. "auto" is 0 where `temper_`
        is 1. Otherwise it is the noise over the variance of standardised coefficients, per row,
        both from the labels as given and with what noise adds taken off (after Hoerl, Kennard and
        Baldwin); with eight groups or more, held-out groups choose between 0, this and 4 times it.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    covariance_type : {"auto", "model", "robust"}, default="auto"
        Covariance of the coefficients behind `standard_errors_`, `summary` and `conf_int`. "model"
        inverts the observed information. "robust" is the sandwich, which also holds where the noise
        differs between rows or groups; it needs at least ten more independent groups (where the
        order is lost; rows otherwise) than parameters, and raises an error where there are fewer.
        "auto" takes the sandwich where there are enough, and where a test of the model's
        covariance has a p-value below 0.1: of noise that changes with the fitted values, and of
        the scores of the groups against the information. With more than
        100,000 rows "auto" is "model", because the test would need a second array of the size of
        X.
    n_jobs : int, default=None
        Threads. The answer does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed.
    family : {"normal", "poisson", "gamma", "negative-binomial"}, default="normal"
        Law of the labels: counts ("poisson", or "negative-binomial" where they vary more), or
        positive numbers of one coefficient of variation ("gamma"), all with the log link. They have
        no search; where the order is lost a fit starts from the sums of groups. Yes/no labels have
        `ShuffledClassifier`, times to an event `ShuffledCoxRegressor`.
    verbose : int, default=0
        1 shows progress bars.
    callback : callable, default=None
        Called again and again with a `Progress` tuple, of the search and of the iterations.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Coefficients.
    intercept_ : float
        Intercept.
    noise_scale_ : float
        Standard deviation of the noise.
    verdict_ : Verdict
        Whether the fit can be trusted: `level` ("trust", "caution" or "reject") and `reasons`.
        "reject", or an order that says nothing, also warns, with an `UnidentifiableWarning`.
    pairing_ : {"lost", "mostly-right", "known"}
        What the order given was taken for.
    pairing_pvalue_ : float
        p-value of the labels as given against labels shuffled inside groups; nan where no label can
        move, or nothing was tested.
    covariance_ : array of shape (k, k)
        Covariance of intercept (when there is one) and coefficients, of the kind
        `covariance_type_`; nan for cautious fits, which do not maximise the likelihood.
    covariance_type_ : {"model", "robust"}
        What `covariance_type` became.
    covariance_pvalue_ : float
        p-value of the model's covariance; nan where it was not tested.
    standard_errors_ : array of shape (k,)
        Square roots of its diagonal.
    noise_scale_se_, mismatch_rate_se_ : float
        Standard errors of noise and rate of mismatches (nan where the rate is not estimated).
    information_kept_ : float
        Smallest fraction of the information kept (observed / complete) in any direction.
    error_inflation_ : float
        Standard errors as a multiple of those with known order (root mean square over directions).
    match_proba_ : array of shape (n_samples,)
        Probability that the label given beside a row is its own. Not after `fit_unpaired`.
    mismatch_rate_ : float
        Expected share of rows whose label is not their own. Not after `fit_unpaired`.
    match_model_ : MatchModel
        Who is mismatched: coefficients of the clues. Only with `match_features`.
    permutation_ : array of shape (n_samples,)
        A most likely permutation: row i holds ``y[permutation_[i]]``.
    expected_labels_ : array of shape (n_samples,)
        Expected label of each row.
    match_share_, match_share_se_ : float
        Share of rows that have their label among those given, and its standard error. This and
        what follows up to `n_labels_` only with ``unmatched="model"``, where `match_proba_` is the
        probability of what `permutation_` says of a row, nobody's label (-1) included.
    unmatched_rows_, unmatched_labels_ : arrays of int
        Rows that have no label, and labels that have no row, more probably than not.
    unmatched_rows_proba_, unmatched_labels_proba_ : arrays
        Probability of that for each row and each label.
    n_pairs_, n_labels_ : float, int
        Expected number of rows that hold a label; labels given.
    kept_rows_ : array of int
        Rows of the fit, where ``unmatched="drop-groups"`` dropped others; then
        `n_dropped_groups_`, `n_dropped_rows_` and `n_dropped_labels_` count what was dropped.
    search_ : {"population", "none"}
        Whether a search was made.
    start_ : {"match", "known rows", "group means", "labels as given", "least squares"}
        What the fit started from. "least squares": the fit is least squares on the labels as
        given, since there is no sign of mismatches, or no fit with mismatches is consistent.
    mismatch_pvalue_ : float
        p-value of the labels as given if none was exchanged (where a law of the noise does not
        suffice, the larger of two); nan where the order was not used, or a rate was given.
    mismatch_limit_ : float
        Upper 95 % limit of the rate; nan as above.
    noise_ : {"normal", "t", "mixture", "any"}
        Law of the noise; "any": the fit needs none. Where the order is lost and a law was asked
        for: `noise_law_` (weights, means, scales of normals), `noise_gain_` (log likelihood, BIC).
    spread_by_fit_ : bool
        Whether the spread of the noise depends on the fitted value.
    off_proba_ : array of shape (n_samples,)
        Probability that a label is the row's own, but far off. Only where the order given was used.
    consistency_distance_, consistency_pvalue_ : float
        Difference of least squares as given from (1 - rate) times a fit with mismatches, as a
        share of its length, and the p-value of that difference; nan where there was no such fit.
    mismatched_slope_ : float
        Slope of labels on fitted values among the rows called mismatched.
    model_agreement_ : float
        Distance of fits with and without a law, in 95 % radii; nan where there is only one.
    solutions_ : array of shape (n_solutions, n_features)
        Coefficients of the distinct matchings found, the best first. Only after a search.
    solution_objectives_ : array of shape (n_solutions,)
        Their matched sums of squares. Only after a search.
    objective_ : float
        Matched sum of squares at `coef_`. It is higher than ``solution_objectives_[0]``, because
        averaging over permutations moves away from the very best match, which also fits noise.
    certified_ : bool
        Whether ``solutions_[0]`` was proved to be the best matching of all.
    lower_bound_ : float
        No matching has a smaller sum of squares than this; 0 where nothing was proved.
    match_score_ : float
        How good the best match is: log of its sum of squares over the labels' own, plus log of it
        over what independent starts typically end in. Lower is better.
    null_scores_ : array
        What the search reaches for labels that have nothing to do with the features.
    null_pvalue_ : float
        p-value of the match against such labels; nan where no null search was made.
    refit_distances_ : array
        Relative change of the coefficients in refits to labels simulated from the fit; empty where
        no match was used.
    temper_shift_ : float
        Relative change of the coefficients when labels are aligned at 1.5 times the noise; nan
        where no match was used.
    shrinkage_share_ : float
        Share of the fit that shrinking least squares on the labels as given would have given.
    group_means_pvalue_ : float
        p-value of equal slopes of the fit and of the regression of group means on group means,
        which no shuffle inside groups changes; nan where the order is not lost, or there are too
        few groups.
    group_means_distance_ : float
        Length of the difference of their fitted values beyond what sampling error explains, as a
        share of the length of the fit.
    curved_, curve_pvalue_ : bool, float
        Whether labels in lost order were aligned around a curve (squares and products of the
        features; `coef_` is the best plane in any case), and the p-value of a plane against such a
        curve; nan where it was not tested.
    n_candidates_, n_found_ : int
        Starting points tried, and how many, chosen independently, ended in the best match.
    stopped_by_ : str
        Why the search ended: "found again", "stands out" or "budget".
    temper_, ridge_ : float
        What "auto" became.
    cv_results_ : dict of arrays
        Where held-out groups chose `temper_` and `ridge_`: the scores of all settings, see
        `ShuffledRegressorCV`.
    n_iter_, converged_ : int, bool
        Iterations of EM, and whether it converged.
    acceptance_rate_ : float
        Share of accepted proposals of the chain in the last iteration. Not for "known".
    objective_path_, coef_path_ : arrays
        Expected sum of squares and coefficients after each iteration.
    r2_, r2_within_ : float
        Share of the variance of the labels that is explained: of all of them, and inside groups.
    n_groups_, rank_ : int
        Number of groups, and rank of X, centred when there is an intercept.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Names of the features, where X had string column names.

    Notes
    -----
    A hard EM step costs O(n d + n), a search some thousand to some hundred thousand of them. A
    table of 20,000 rows or more is searched in a sample of its groups, or of each group; the
    coefficients are then fitted to all rows. There `solution_objectives_` is scaled to all rows,
    and nothing is proved. What can be recovered depends on n, d, the noise and the groups; see
    "When it cannot work" in the documentation.

    Examples
    --------
    >>> from unshuffle import ShuffledRegressor
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> data = make_shuffled_regression(300, 4, noise=0.1, random_state=0)  # fully shuffled
    >>> model = ShuffledRegressor(random_state=0).fit(data.X, data.y)
    >>> model.pairing_
    'lost'
    >>> bool(abs(model.coef_ - data.coef).max() < 0.05)
    True
    """

    verdict_: Verdict
    temper_: float
    ridge_: float
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "pairing": [StrOptions({"auto", "lost", "mostly-right", "known"})],
        "mismatch_rate": [StrOptions({"estimate"}), *GIVEN_RATES],
        "mismatch_rate_max": [None, Interval(Real, 0, 1, closed="neither")],
        "search": [StrOptions({"auto", "none", "population"})],
        "n_candidates": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "alignment": [StrOptions({"auto", "chain", "sinkhorn", "exact"})],
        "noise": [StrOptions({"auto", "normal", "t", "mixture"})],
        "temper": [StrOptions({"auto"}), Interval(Real, 1e-6, 1e6, closed="both")],
        "ridge": [StrOptions({"auto"}), Interval(Real, 0, 1e30, closed="both")],
        "fit_intercept": ["boolean"],
        "covariance_type": [StrOptions({"auto", "model", "robust"})],
        "family": [StrOptions(set(REGRESSIONS))],
        "n_jobs": [None, Integral],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "callback": [None, callable],
    }
    _convergence_advice = "the coefficients still move; treat them with caution."
    max_iter = DEFAULTS.iteration.max_iter

    def __init__(
        self,
        *,
        pairing: str = "auto",
        mismatch_rate: float | str | Audit | Mapping[Any, Any] = "estimate",
        mismatch_rate_max: float | None = None,
        search: str = "auto",
        n_candidates: int | str = "auto",
        alignment: str = "auto",
        noise: str = "auto",
        temper: float | str = "auto",
        ridge: float | str = "auto",
        fit_intercept: bool = True,
        covariance_type: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callable[[Progress], object] | None = None,
        family: str = "normal",
    ) -> None:
        self.pairing = pairing
        self.mismatch_rate = mismatch_rate
        self.mismatch_rate_max = mismatch_rate_max
        self.search = search
        self.n_candidates = n_candidates
        self.alignment = alignment
        self.noise = noise
        self.temper = temper
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.covariance_type = covariance_type
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback
        self.family = family

    def fit_unpaired(
        self,
        X: Any,
        y: Any,
        groups_X: Any = None,
        groups_y: Any = None,
        *,
        unmatched: str = "refuse",
        match_share: float | str | tuple[float, float] = "estimate",
    ) -> Self:
        """Fit the model to two tables that share nothing but a group key.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features, one row each, in any order.
        y : array-like of shape (n_labels,)
            Labels, in any order.
        groups_X, groups_y : array-like of shape (n_samples,) and (n_labels,), optional
            Group of each row and of each label. Leave out both where any label may belong to any
            row.
        unmatched : {"refuse", "drop-groups", "model"}, default="refuse"
            What to do where a group has more labels than rows, or fewer: "refuse" raises an
            error, "drop-groups" leaves these groups out (`kept_rows_` are the rows of the others),
            "model" fits all of them, where some rows have no label and some labels no row.
        match_share : float, (float, float) or "estimate", default="estimate"
            With ``unmatched="model"`` the share of rows that have their label among those given,
            or bounds of it.

        Returns
        -------
        self : object
            The fitted estimator; ``permutation_[i]`` is the number of the label, in `y` as given,
            that row i most likely holds, or -1 for none. There is no order to test, so `pairing`
            plays no role.
        """
        fit_two_tables(self, X, y, groups_X, groups_y, unmatched, match_share)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = False  # labels in order are recognised as such
        return tags

    def _compute(self, data: InMemory, seed: int) -> AutoFit:
        settings = AutoSettings(
            seed,
            pairing=self.pairing,
            mismatch_rate=rate_of(self.mismatch_rate),
            audit=self.mismatch_rate if isinstance(self.mismatch_rate, Audit) else None,
            search=self.search,
            n_candidates=open_setting(self.n_candidates),
            alignment="chain" if self.alignment == "auto" else self.alignment,
            noise=self.noise,
            temper=open_setting(self.temper),
            ridge=open_setting(self.ridge),
            fit_intercept=self.fit_intercept,
            covariance=self.covariance_type,
        )
        return fit_auto(data, settings, reporting=reporting(self.verbose, self.callback))

    def _refitting(self) -> StochasticSettings:
        """Settings of a fit to simulated labels: EM from here, without tests and searches."""
        return StochasticSettings(
            0,
            max_iter=self.max_iter,
            init=self.coef_,
            alignment="chain" if self.alignment == "auto" else self.alignment,
            temper=self.temper_,
            ridge=self.ridge_,
            fit_intercept=self.fit_intercept,
        )
