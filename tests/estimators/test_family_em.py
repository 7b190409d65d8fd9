"""Stochastic and Hard EM on counts and positive labels: oracles, agreement, refusals."""

from itertools import permutations

import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from unshuffle import (
    HardEMRegressor,
    MixtureRegressor,
    ShuffledRegressor,
    ShuffledRegressorCV,
    StochasticEMRegressor,
    Streaming,
    UnidentifiableWarning,
)
from unshuffle.data.problem import make_problem
from unshuffle.families.catalogue import FAMILIES
from unshuffle.fits.glm.data import arrange_data
from unshuffle.fits.glm.known import fit_known
from unshuffle.fits.glm.lost_chain import expected_precision

COEF = np.array([0.8, -0.5])
NAMES = ["poisson", "gamma", "negative-binomial"]
PEERS = {
    "poisson": sm.families.Poisson(),
    "gamma": sm.families.Gamma(sm.families.links.Log()),
}


def grouped(name, n_groups=60, size=6, seed=0):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    X = rng.normal(size=(len(groups), 2)) + 0.5 * rng.normal(size=(n_groups, 2))[groups]
    y = FAMILIES[name].simulate(0.3 + X @ COEF, 4.0, rng)
    return X, y[np.lexsort([rng.random(len(groups)), groups])], groups


def matched_objective(name, X, y):
    """Minus twice the highest log-likelihood of labels in this order."""
    family = FAMILIES[name]
    problem = make_problem(X, y, np.zeros(len(y), dtype=int), np.ones(len(y), dtype=bool))
    data = arrange_data(problem, fit_intercept=True)
    known = fit_known(data, family)
    precision = expected_precision(data, family, known.eta, y, known.precision)
    return -2.0 * family.log_density(y, known.eta, precision).sum()


@pytest.mark.parametrize("name", ["poisson", "gamma"])
def test_the_best_match_of_all_permutations(name):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(5, 1))
    y = FAMILIES[name].simulate(1.0 + X[:, 0], 4.0, rng)
    every = [matched_objective(name, X, y[list(order)]) for order in permutations(range(5))]
    model = HardEMRegressor(family=name, n_init=30, random_state=0).fit(X, y)
    assert model.restart_objectives_.min() == pytest.approx(min(every), rel=1e-9)
    assert model.objective_path_[-1] == model.restart_objectives_.min()
    # The controls: the labels as given, and a start that leads elsewhere.
    assert matched_objective(name, X, y) > min(every) + 1e-3
    assert model.restart_objectives_.max() > min(every) + 1e-3


@pytest.mark.parametrize("name", NAMES)
def test_hard_em_descends_and_sorts(name):
    X, y, groups = grouped(name)
    model = HardEMRegressor(family=name, n_init=8, random_state=0).fit(X, y, groups=groups)
    assert model.converged_
    assert np.all(np.diff(model.objective_path_) <= 1e-9 * np.abs(model.objective_path_[1:]))
    assert model.coef_path_.shape == (model.n_iter_, 2)
    assert np.array_equal(model.expected_labels_, y[model.permutation_])
    assert np.array_equal(groups[model.permutation_], groups)
    fitted = model.predict(X)
    for group in range(5):
        inside = groups == group
        order = np.argsort(fitted[inside])
        assert np.all(np.diff(model.expected_labels_[inside][order]) >= 0)
    assert np.linalg.norm(model.coef_ - COEF) < 0.3
    assert 0.0 < model.score(X, model.expected_labels_) < 1.0
    again = clone(model).set_params(n_jobs=2).fit(X, y, groups=groups)
    assert np.array_equal(again.coef_, model.coef_)
    assert not hasattr(model, "conf_int")


def test_an_offset_of_zero_changes_nothing_of_hard_em():
    X, y, groups = grouped("gamma")
    plain = HardEMRegressor(n_init=5, random_state=0).fit(X, np.log(y), groups=groups)
    offset = np.zeros(len(y))
    model = HardEMRegressor(n_init=5, random_state=0).fit(X, np.log(y), groups, offset=offset)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-8)
    assert np.array_equal(model.permutation_, plain.permutation_)
    other = HardEMRegressor(n_init=5, random_state=0).fit(X, np.log(y), groups, offset=X[:, 0])
    np.testing.assert_allclose(other.coef_ + np.array([1.0, 0.0]), plain.coef_, rtol=1e-6)


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("estimator", [HardEMRegressor, StochasticEMRegressor])
def test_known_order_equals_statsmodels(name, estimator):
    X, y, _ = grouped(name)
    exposure = np.random.default_rng(0).uniform(0.5, 2.0, size=len(y))
    known = np.ones(len(y), dtype=bool)
    model = estimator(family=name).fit(X, y, known=known, exposure=exposure)
    design, offset = sm.add_constant(X), np.log(exposure)
    peer = sm.GLM(y, design, family=PEERS[name], offset=offset).fit(tol=1e-14, maxiter=200)
    values = np.append(model.intercept_, model.coef_)
    np.testing.assert_allclose(values, peer.params, rtol=1e-8, atol=1e-9)
    if estimator is StochasticEMRegressor:
        np.testing.assert_allclose(model.standard_errors_, peer.bse, rtol=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_stochastic_em_is_the_chain_of_the_default_estimator(name):
    X, y, groups = grouped(name)
    model = StochasticEMRegressor(family=name, random_state=0).fit(X, y, groups=groups)
    default = ShuffledRegressor(family=name, pairing="lost", random_state=0)
    assert np.array_equal(model.coef_, default.fit(X, y, groups=groups).coef_)
    assert np.all(np.abs(model.coef_ - COEF) < 4 * model.standard_errors_[1:])
    assert model.verdict_.level != "reject"
    assert "poisson" in str(model.summary()) or name != "poisson"
    assert not hasattr(model, "repair")


def test_a_rate_of_mismatches_is_the_likelihood_of_the_mixture():
    X, y, _ = grouped("poisson")
    one = StochasticEMRegressor(family="poisson", mismatch_rate="estimate").fit(X, y)
    other = MixtureRegressor(family="poisson").fit(X, y)
    assert (one.pairing_, one.coef_.tolist()) == ("mostly-right", other.coef_.tolist())
    given = StochasticEMRegressor(family="poisson").fit(X, y, match_prob=np.full(len(y), 0.8))
    assert given.pairing_ == "mostly-right"


def test_settings_of_the_chain():
    X, y, groups = grouped("poisson")
    seen = []
    short = StochasticEMRegressor(
        family="poisson", max_iter=10, tol=0, n_steps=4_000, burn_in=100, init=COEF,
        random_state=0, callback=seen.append,
    )  # fmt: skip
    short.fit(X, y, groups=groups)
    assert short.n_iter_ == len(seen) == 40
    assert seen[-1].coef.shape == (2,)
    assert 0.0 < seen[-1].acceptance_rate < 1.0
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        clone(short).set_params(max_iter=1, tol=1e-3).fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="init has shape"):
        StochasticEMRegressor(family="poisson", init=[1.0]).fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="leaves none of the n_steps"):
        StochasticEMRegressor(family="poisson", n_steps=10, burn_in=10).fit(X, y, groups=groups)


def test_one_group_runs_and_is_rejected():
    X, y, _ = grouped("poisson")
    with pytest.warns(UnidentifiableWarning, match="Nothing but the labels inside groups"):
        model = StochasticEMRegressor(family="poisson", random_state=0).fit(X, y)
    assert model.verdict_.level == "reject"
    as_given = ShuffledRegressor(family="poisson", pairing="known").fit(X, y)
    assert np.linalg.norm(model.coef_) > 2 * np.linalg.norm(as_given.coef_)  # matched, not as given


GOOD = np.random.default_rng(0).normal(size=(50, 2))
COUNTS = np.arange(50) % 5


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"variant": "published"}, "variant='published' is for family='normal'"),
        ({"alignment": "exact"}, "alignment='exact' is for family='normal'.*leave it out"),
        ({"temper": 2.0}, "temper=2.0 is for family='normal'.*leave it out"),
        ({"ridge": 1.0}, "ridge=1.0 is for family='normal'.*leave it out"),
        ({"max_shift": 3}, "max_shift=3 .*give groups of rows that lie together"),
        ({"early_stopping": True}, "early_stopping=True .*set max_iter"),
        ({"thin": 3}, "thin=3 .*leave it out"),
        ({"streaming": Streaming()}, "streaming=.*fit a sample in memory"),
        ({"covariance_type": "robust"}, r"conf_int\(method='sandwich'\)"),
        ({"mismatch_rate_max": 0.2}, "give mismatch_rate or match_prob"),
        ({"mismatch_rate": 0.2, "max_iter": 9}, "max_iter=9 is for labels in lost order"),
        ({"mismatch_rate": 0.2, "init": [1.0, 2.0]}, "is for labels in lost order"),
    ],
)
def test_settings_without_a_meaning_are_refused(settings, said):
    with pytest.raises(ValueError, match=said) as caught:
        StochasticEMRegressor(family="poisson", **settings).fit(GOOD, COUNTS)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("fit", "said"),
    [
        (
            lambda: HardEMRegressor(family="poisson").fit(GOOD, COUNTS, sample_weight=COUNTS + 1),
            "sample_weight is not for labels in lost order",
        ),
        (lambda: HardEMRegressor(family="poisson").fit(GOOD, COUNTS, weight=1), "unexpected"),
        (lambda: HardEMRegressor(family="gamma").fit(GOOD, COUNTS), "family='poisson'"),
        (lambda: HardEMRegressor(family="gamma", init=[1.0]).fit(GOOD, COUNTS + 1), "init has"),
        (
            lambda: ShuffledRegressorCV().fit(GOOD, COUNTS, sample_weight=COUNTS),
            "ShuffledRegressorCV is for labels in lost order.*use ShuffledRegressor",
        ),
        (
            lambda: StochasticEMRegressor(family="poisson").fit(GOOD, COUNTS, match_features=GOOD),
            "give match_prob",
        ),
    ],
)
def test_bad_input(fit, said):
    with pytest.raises((ValueError, TypeError), match=said):
        fit()
