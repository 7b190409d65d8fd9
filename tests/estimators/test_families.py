"""Estimators of counts, positive labels, two classes and times to an event."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from unshuffle import (
    MixtureRegressor,
    ShuffledClassifier,
    ShuffledCoxRegressor,
    ShuffledRegressor,
    UnidentifiableWarning,
    fit_formula,
    load_model,
    save_model,
)
from unshuffle.families.catalogue import FAMILIES

COEF = np.array([0.8, -0.5])
COUNTS = ["poisson", "negative-binomial"]


def linked(name, n=1_000, rate=0.2, seed=0):
    """Labels of a family of which a share is exchanged, and the rows that were."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    scale = 2.0 if name == "bernoulli" else 1.0
    y = FAMILIES[name].simulate(0.5 + scale * X @ COEF, 4.0, rng)
    moved = rng.choice(n, round(rate * n), replace=False)
    y[moved] = y[rng.permutation(moved)]
    return X, y, scale * COEF, moved


def times(n=800, rate=0.2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    time, limit = rng.exponential(np.exp(-X @ [1.0, -0.5])), rng.uniform(0, 7.5, size=n)
    event, time = time <= limit, np.minimum(time, limit)
    moved = rng.choice(n, round(rate * n), replace=False)
    order = np.arange(n)
    order[moved] = rng.permutation(moved)
    return X, time[order], event[order]


def lost(name, n_groups=80, size=8, seed=0):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    X = rng.normal(size=(len(groups), 2)) + 0.5 * rng.normal(size=(n_groups, 2))[groups]
    scale = 2.0 if name == "bernoulli" else 1.0
    y = FAMILIES[name].simulate(0.3 + scale * X @ COEF, 4.0, rng)
    return X, y[np.lexsort([rng.random(len(groups)), groups])], groups, scale * COEF


@pytest.mark.parametrize("name", ["poisson", "gamma", "negative-binomial"])
def test_mostly_right(name):
    X, y, coef, moved = linked(name)
    model = ShuffledRegressor(family=name).fit(X, y)
    assert model.pairing_ == "mostly-right"
    assert np.all(np.abs(model.coef_ - coef) < 4 * model.standard_errors_[1:])
    assert abs(model.mismatch_rate_ - 0.2) < 0.1
    assert model.verdict_.level == "trust"
    as_given = ShuffledRegressor(family=name, pairing="known").fit(X, y)
    assert np.linalg.norm(as_given.coef_ - coef) > 2 * np.linalg.norm(model.coef_ - coef)
    own = np.delete(np.arange(len(y)), moved)
    assert model.match_proba_[moved].mean() < model.match_proba_[own].mean() - 0.05
    suspects = model.suspects()
    assert np.isin(suspects["row"], moved).mean() > 0.5
    again = MixtureRegressor(family=name).fit(X, y)
    np.testing.assert_allclose(again.coef_, model.coef_, rtol=1e-6)
    low, high = model.mismatch_rate_interval()
    assert low < model.mismatch_rate_ < high
    sandwich = model.conf_int(method="sandwich")
    assert np.all(np.abs(np.log(np.diff(sandwich) / np.diff(model.conf_int()))) < 0.5)


def test_rates_given_and_per_row():
    X, y, _, moved = linked("poisson")
    given = ShuffledRegressor(family="poisson", mismatch_rate=0.2).fit(X, y)
    assert np.isnan(given.mismatch_rate_se_)
    with pytest.raises(ValueError, match="no rate of mismatches was estimated"):
        given.mismatch_rate_interval()
    proba = np.ones(len(y))
    proba[moved] = 0.1
    told = ShuffledRegressor(family="poisson").fit(X, y, match_prob=proba)
    assert np.linalg.norm(told.standard_errors_) < np.linalg.norm(given.standard_errors_)
    assert np.all(told.match_proba_[proba == 1] == 1.0)


@pytest.mark.parametrize("name", ["poisson", "gamma", "negative-binomial"])
def test_lost_inside_groups(name):
    X, y, groups, coef = lost(name)
    model = ShuffledRegressor(family=name, pairing="lost", random_state=0).fit(X, y, groups=groups)
    assert np.all(np.abs(model.coef_ - coef) < 4 * model.standard_errors_[1:])
    assert model.verdict_.level != "reject"
    assert np.array_equal(np.sort(model.permutation_), np.arange(len(y)))
    same = clone(model).fit(X, y, groups=groups)
    assert np.array_equal(same.coef_, model.coef_)
    with pytest.raises(ValueError, match="sample_weight is not for labels in lost order"):
        clone(model).fit(X, y, groups=groups, sample_weight=np.ones(len(y)))


def test_two_classes_lost_inside_groups():
    X, y, groups, coef = lost("bernoulli")
    y[groups == 0], y[groups == 1] = 0.0, 1.0  # a group without ones, and one full of them
    model = ShuffledClassifier(pairing="lost").fit(X, y, groups=groups)
    assert np.all(np.abs(model.coef_ - coef) < 4 * model.standard_errors_[1:])
    assert model.verdict_.level != "reject"
    assert np.all(model.expected_labels_[groups == 0] == 0.0)


@pytest.mark.parametrize("name", ["poisson", "bernoulli"])
def test_one_group_in_lost_order_is_rejected(name):
    X, y, _, _ = lost(name)
    estimator = ShuffledClassifier() if name == "bernoulli" else ShuffledRegressor(family=name)
    shuffled = np.random.default_rng(1).permutation(y)
    with pytest.warns(UnidentifiableWarning, match="Nothing but the labels inside groups"):
        model = estimator.fit(X, shuffled)
    assert (model.pairing_, model.verdict_.level) == ("lost", "reject")


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_the_classifier_passes_every_check_of_sklearn():
    results = check_estimator(ShuffledClassifier(), on_skip=None)
    assert {r["status"] for r in results} <= {"passed", "skipped"}
    assert len([r for r in results if r["status"] == "passed"]) > 40


def test_any_two_classes():
    X, y, coef, _ = linked("bernoulli", 2_000)
    plain = ShuffledClassifier().fit(X, y)
    model = ShuffledClassifier().fit(X, np.where(y == 1, "well", "ill"))
    assert list(model.classes_) == ["ill", "well"]
    np.testing.assert_allclose(model.coef_, plain.coef_)
    assert np.all(np.abs(model.coef_ - coef) < 4 * model.standard_errors_[1:])
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert np.array_equal(model.predict(X) == "well", model.decision_function(X) > 0)
    assert set(model.suspects(0.9)["label"]) <= {"ill", "well"}
    assert 0.6 < model.score(X, np.where(y == 1, "well", "ill")) < 1.0


def test_times_to_an_event():
    X, time, event = times()
    two = ShuffledCoxRegressor().fit(X, np.column_stack([event, time]))
    assert np.all(np.abs(two.coef_ - [1.0, -0.5]) < 4 * two.standard_errors_)
    assert abs(two.mismatch_rate_ - 0.2) < 0.12
    y = np.empty(len(time), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = event, time
    assert np.array_equal(ShuffledCoxRegressor().fit(X, y).coef_, two.coef_)
    frame = pd.DataFrame({"died": event, "months": time})
    assert np.array_equal(ShuffledCoxRegressor().fit(X, frame).coef_, two.coef_)
    survival = two.predict_survival_function(X[:5])
    assert survival.shape == (5, len(two.event_times_))
    assert np.all(np.diff(survival, axis=1) <= 0.0)
    assert np.all(two.predict_survival_function(X[:5], [0.0]) == 1.0)
    assert len(two.baseline_hazard_) == len(two.event_times_) == event.sum()
    assert 0.6 < two.score(X, y) < 0.9
    # Units and zero of the features change the units of the answer, and nothing else.
    moved = ShuffledCoxRegressor().fit(100.0 * X + 7.0, y)
    np.testing.assert_allclose(100.0 * moved.coef_, two.coef_, rtol=1e-6)
    np.testing.assert_allclose(moved.baseline_hazard_, two.baseline_hazard_, rtol=1e-6)


def test_summary_with_ratios():
    X, y, _, _ = linked("poisson")
    model = ShuffledRegressor(family="poisson").fit(pd.DataFrame(X, columns=["a", "b"]), y)
    plain, ratios = model.summary().to_dict(), model.summary(ratios=True).to_dict()
    one, other = (s["coefficients"]["a"]["unshuffle"] for s in (plain, ratios))
    assert other["coef"] == pytest.approx(np.exp(one["coef"]))
    assert other["low"] == pytest.approx(np.exp(one["low"]))
    assert other["p"] == pytest.approx(one["p"])
    assert "rate ratios" in str(model.summary(ratios=True))
    normal = ShuffledRegressor(random_state=0).fit(X, y + 0.5 * X[:, 0])
    with pytest.raises(ValueError, match="not logs of ratios"):
        normal.summary(ratios=True)


def test_exposure_is_the_logarithm_as_offset():
    X, y, _, _ = linked("poisson")
    exposure = np.random.default_rng(0).uniform(0.5, 2.0, size=len(y))
    one = ShuffledRegressor(family="poisson").fit(X, y, exposure=exposure)
    other = ShuffledRegressor(family="poisson").fit(X, y, offset=np.log(exposure))
    np.testing.assert_allclose(one.coef_, other.coef_)
    np.testing.assert_allclose(
        one.predict(X, exposure=exposure), exposure * one.predict(X), rtol=1e-12
    )


@pytest.mark.parametrize("name", ["poisson", "normal"])
def test_a_weight_of_two_is_a_row_twice(name):
    X, y, _, _ = linked(name, 300)
    weights = np.random.default_rng(0).integers(0, 3, size=300)
    one = ShuffledRegressor(family=name).fit(X, y, sample_weight=weights)
    rows = np.repeat(np.arange(300), weights)
    other = ShuffledRegressor(family=name).fit(X[rows], y[rows], sample_weight=np.ones(len(rows)))
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-5)
    np.testing.assert_allclose(one.standard_errors_, other.standard_errors_, rtol=1e-3)
    assert np.isnan(one.match_proba_[weights == 0]).all()


def test_known_order_is_a_glm():
    X, y, _, _ = linked("poisson", rate=0.0)
    model = ShuffledRegressor(family="poisson").fit(X, y, known=np.ones(len(y), dtype=bool))
    assert (model.pairing_, model.mismatch_rate_) == ("known", 0.0)
    given = model.summary().to_dict()["coefficients"]["x1"]
    assert given["unshuffle"] == given["as given"]


@pytest.mark.filterwarnings("ignore::unshuffle.UnidentifiableWarning")
def test_separated_classes_predict_and_are_rejected():
    X = np.random.default_rng(0).normal(size=(100, 2))
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = ShuffledClassifier().fit(frame, X[:, 1] > 0)
    assert "perfect separation: column 'b'" in model.verdict_.text
    assert model.verdict_.level == "reject"
    assert model.score(frame, X[:, 1] > 0) > 0.95


def test_pipelines_pickles_and_files(tmp_path):
    X, y, _, _ = linked("bernoulli", 600)
    words = np.where(y == 1, "yes", "no")
    model = make_pipeline(StandardScaler(), ShuffledClassifier()).fit(X, words)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X), model.predict(X))
    save_model(model[-1], tmp_path / "classes")
    stored = load_model(tmp_path / "classes")
    assert np.array_equal(stored.predict(model[0].transform(X)), model.predict(X))
    X, y, _, _ = linked("gamma", 600)
    counts = ShuffledRegressor(family="gamma").fit(X, y)
    save_model(counts, tmp_path / "gamma")
    np.testing.assert_allclose(load_model(tmp_path / "gamma").predict(X), counts.predict(X))
    assert load_model(tmp_path / "gamma").summary().to_dict()["coefficients"]


def test_formulas():
    X, time, event = times(400)
    data = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "months": time, "died": event})
    model = fit_formula("Surv(months, died) ~ a + b", data)
    plain = ShuffledCoxRegressor().fit(X, np.column_stack([event, time]))
    np.testing.assert_allclose(model.coef_, plain.coef_)
    np.testing.assert_allclose(model.predict(data), plain.predict(X))
    X, y, _, _ = linked("poisson")
    data = pd.DataFrame({"a": X[:, 0], "n": y, "size": 2.0})
    counts = fit_formula("n ~ a", data, exposure="size", family="poisson")
    assert counts.family_ == "poisson"
    with pytest.raises(ValueError, match=r"write Surv\(time, event\)"):
        fit_formula("Surv(months) ~ a", data)


GOOD = np.random.default_rng(0).normal(size=(50, 2))
ODD = np.arange(50) % 2


@pytest.mark.parametrize(
    ("fit", "said"),
    [
        (lambda: ShuffledClassifier().fit(GOOD, np.arange(50) % 3), "Only binary.*3 classes"),
        (lambda: ShuffledClassifier().fit(GOOD, np.ones(50)), "only one class"),
        (
            lambda: ShuffledClassifier().fit(GOOD, ODD, sample_weight=-ODD),
            "must not be negative, but row 1",
        ),
        (lambda: ShuffledClassifier().fit(GOOD, ODD, sample_weight=0 * ODD), "zero in all rows"),
        (lambda: ShuffledClassifier().fit(GOOD, ODD, sample_weight=ODD), "of one class"),
        (lambda: ShuffledClassifier().fit(GOOD, ODD, offset=ODD[:3]), "offset has shape"),
        (
            lambda: ShuffledRegressor(family="poisson").fit(GOOD, ODD, exposure=ODD),
            "exposure must be positive, but row 0 has 0",
        ),
        (
            lambda: ShuffledRegressor(family="poisson").fit(GOOD, GOOD[:, 0]),
            "counts.*family='normal'",
        ),
        (lambda: ShuffledRegressor(family="gamma").fit(GOOD, ODD), "ShuffledClassifier"),
        (
            lambda: ShuffledRegressor(family="poisson", temper=2.0).fit(GOOD, ODD),
            "temper=2.0 is for family='normal'",
        ),
        (lambda: ShuffledRegressor(family="cox").fit(GOOD, ODD), "use ShuffledCoxRegressor"),
        (lambda: ShuffledRegressor().fit(GOOD, ODD, weight=ODD), "unexpected keyword"),
        (lambda: ShuffledCoxRegressor().fit(GOOD, ODD), r"y has shape \(50,\)"),
        (
            lambda: ShuffledCoxRegressor().fit(GOOD, np.column_stack([2 * ODD, ODD + 1])),
            "events must be True or False.*row 1 has 2",
        ),
        (
            lambda: ShuffledCoxRegressor().fit(GOOD, np.column_stack([ODD, ODD])),
            "times must be positive, but row 0 has 0",
        ),
        (
            lambda: ShuffledCoxRegressor().fit(GOOD, np.column_stack([0 * ODD, ODD + 1])),
            "none of the 50 rows has an event",
        ),
        (
            lambda: ShuffledCoxRegressor().fit(
                GOOD, np.column_stack([np.ones(50), np.arange(1, 51) % 7 + 1])
            ),
            "not for labels in lost order",
        ),
    ],
)
def test_bad_input(fit, said):
    with pytest.raises((ValueError, TypeError), match=said):
        fit()


def test_what_other_families_do_not_have():
    X, y, _, _ = linked("poisson")
    model = ShuffledRegressor(family="poisson").fit(X, y)
    for name in ("repair", "mismatch_sensitivity"):
        with pytest.raises(AttributeError, match="a fit of family 'poisson'"):
            getattr(model, name)
    with pytest.raises(ValueError, match="method must be"):
        model.conf_int(method="x")
    normal = model.set_params(family="normal", random_state=0).fit(X, y + X[:, 0])
    assert callable(normal.bootstrap)


@pytest.mark.filterwarnings("ignore::unshuffle.UnidentifiableWarning")
@pytest.mark.parametrize("related", [True, False])
def test_unrelated_counts_are_matched_inside_groups_and_not_trusted(related):
    rng = np.random.default_rng(4)
    groups = np.repeat(np.arange(40), 25)
    X = rng.normal(size=(1_000, 2))
    of_labels = X if related else rng.normal(size=(1_000, 2))
    y = FAMILIES["poisson"].simulate(of_labels @ COEF, 1.0, rng)
    y = y[np.lexsort([rng.random(1_000), groups])]
    model = ShuffledRegressor(family="poisson", pairing="lost", random_state=0)
    model.fit(X, y, groups=groups)
    assert np.linalg.norm(model.coef_) > 0.5  # a relation is found in both
    assert (model.verdict_.level == "trust") == related
