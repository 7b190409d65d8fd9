"""Pairings that are mostly right, as users fit them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import HuberRegressor, LinearRegression

from unshuffle import HardEMRegressor, MixtureRegressor, StochasticEMRegressor
from unshuffle.datasets import make_shuffled_regression
from unshuffle.metrics import coefficient_error

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def linked():
    return make_shuffled_regression(
        400, 4, noise=0.3, shuffle="fraction", fraction=0.25, random_state=0
    )


@pytest.fixture(scope="module")
def fitted(linked):
    return StochasticEMRegressor(mismatch_rate="estimate", random_state=0).fit(linked.X, linked.y)


def test_better_than_ols_and_huber(linked, fitted):
    ours = coefficient_error(fitted.coef_, linked.coef)
    known = coefficient_error(LinearRegression().fit(linked.X, linked.y_ordered).coef_, linked.coef)
    for other in (LinearRegression(), HuberRegressor()):
        assert ours < 0.7 * coefficient_error(other.fit(linked.X, linked.y).coef_, linked.coef)
    assert ours < 2 * known
    assert fitted.noise_scale_ == pytest.approx(0.3, rel=0.1)
    assert fitted.mismatch_rate_ == pytest.approx(0.25, abs=0.04)


def test_match_probabilities_flag_the_wrong_links(linked, fitted):
    wrong = linked.permutation != np.arange(400)
    flagged = fitted.match_proba_ < 0.5
    assert np.mean(wrong[flagged]) > 0.95
    assert np.mean(flagged[wrong]) > 0.6


def test_suspects_name_partners(linked, fitted):
    table = fitted.suspects(0.5, n_partners=2)
    assert isinstance(table, pd.DataFrame)
    assert list(table.columns) == [
        "row", "label", "kind", "match_proba", "partner_1", "partner_1_proba", "partner_2", "partner_2_proba",
    ]  # fmt: skip
    assert len(table) == np.sum(fitted.match_proba_ < 0.5)
    assert table["match_proba"].is_monotonic_increasing
    assert np.array_equal(table["label"], linked.y[table["row"]])
    assert (table["partner_1"] != table["row"]).all()
    named = table["partner_1"] >= 0
    assert table.loc[named, "partner_1_proba"].between(0, 1).all()
    assert (table["partner_1_proba"] >= table["partner_2_proba"].fillna(0)).all()
    assert len(fitted.suspects(0.0)) == 0
    with pytest.raises(ValueError, match="threshold is a probability"):
        fitted.suspects(1.5)
    published = StochasticEMRegressor(variant="published").fit(linked.X, linked.y)
    with pytest.raises(ValueError, match="has no match probabilities"):
        published.suspects()


def test_repair_brings_labels_nearer(linked, fitted):
    repaired = fitted.repair(linked.y)
    before = np.mean((linked.y - linked.y_ordered) ** 2)
    assert np.mean((repaired - linked.y_ordered) ** 2) < 0.2 * before
    assert sorted(repaired) == sorted(linked.y)
    names = np.array([f"label {i}" for i in range(400)])
    assert np.array_equal(fitted.repair(names), names[fitted.permutation_])
    with pytest.raises(ValueError, match="fitted to 400 rows"):
        fitted.repair(linked.y[:10])


def test_one_swapped_pair_is_found_and_named():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(96, 3))
    ordered = X @ [2.0, -1.0, 1.0] + 0.1 * rng.normal(size=96)
    y = ordered.copy()
    y[[10, 50]] = y[[50, 10]]
    model = StochasticEMRegressor(mismatch_rate="estimate", random_state=0).fit(X, y)
    table = model.suspects().set_index("row")
    assert sorted(table.index[:2]) == [10, 50]  # neither is the likelier suspect
    assert table["match_proba"].is_monotonic_increasing
    assert (table["match_proba"].iloc[:2] < 0.01).all()
    assert (table["match_proba"].iloc[2:] > 0.1).all()
    assert dict(table["partner_1"].iloc[:2]) == {10: 50, 50: 10}
    assert (table["partner_1_proba"].iloc[:2] > 0.9).all()
    assert np.array_equal(model.repair(y)[[10, 50]], ordered[[10, 50]])


def test_no_mismatch_does_no_harm():
    data = make_shuffled_regression(300, 5, shuffle="fraction", fraction=0.0, random_state=1)
    model = StochasticEMRegressor(mismatch_rate="estimate", random_state=0).fit(data.X, data.y)
    ols = LinearRegression().fit(data.X, data.y)
    known = coefficient_error(ols.coef_, data.coef)
    assert coefficient_error(model.coef_, data.coef) < 1.02 * known
    assert model.mismatch_rate_ < 0.02


@pytest.mark.long
def test_match_prob_of_a_linkage_tool_helps(linked):
    right = linked.permutation == np.arange(400)
    rng = np.random.default_rng(0)
    p = np.clip(np.where(right, 0.9, 0.3) + 0.05 * rng.normal(size=400), 0, 1)
    plain = StochasticEMRegressor(mismatch_rate="estimate", random_state=0).fit(linked.X, linked.y)
    given = StochasticEMRegressor(random_state=0).fit(linked.X, linked.y, match_prob=p)
    wrong_side = [np.mean((m.match_proba_ < 0.5) == right) for m in (plain, given)]
    assert wrong_side[1] < wrong_side[0]
    sure = StochasticEMRegressor(random_state=0).fit(linked.X, linked.y, match_prob=right * 1.0)
    assert np.all(sure.match_proba_[right] == 1)
    assert np.array_equal(sure.permutation_[right], np.flatnonzero(right))


def test_everything_known_is_ols(linked):
    ols = LinearRegression().fit(linked.X, linked.y)
    for more in ({"known": np.ones(400, dtype=bool)}, {"match_prob": np.ones(400)}):
        model = StochasticEMRegressor(mismatch_rate="estimate", random_state=0)
        model.fit(linked.X, linked.y, **more)
        np.testing.assert_allclose(model.coef_, ols.coef_, atol=1e-10)
        assert model.mismatch_rate_ == 0
        assert len(model.suspects()) == 0


def test_a_group_whose_every_row_is_known(linked):
    groups = np.arange(400) // 100
    known = groups == 2
    model = StochasticEMRegressor(mismatch_rate=0.3, random_state=0)
    model.fit(linked.X, linked.y_ordered, groups=groups, known=known)
    assert np.all(model.match_proba_[known] == 1)
    assert np.array_equal(groups[model.permutation_], groups)


@pytest.mark.parametrize("rate", [None, "estimate"])
def test_labels_stay_within_reach(rate):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    ordered = X @ [2.0, -1.0] + 0.1 * rng.normal(size=120)
    y = ordered.copy()
    y[40:44] = ordered[[41, 42, 43, 40]]
    y[[20, 90]] = y[[90, 20]]  # out of reach: no row may claim these
    model = StochasticEMRegressor(max_shift=3, mismatch_rate=rate, random_state=0).fit(X, y)
    assert np.abs(model.permutation_ - np.arange(120)).max() <= 3
    assert coefficient_error(model.coef_, [2.0, -1.0]) < 0.1
    assert np.mean((model.repair(y) - ordered) ** 2) < np.mean((y - ordered) ** 2) / 2
    table = model.suspects(0.9)
    named = table["partner_1"] >= 0
    assert (np.abs(table["row"] - table["partner_1"])[named] <= 3).all()
    frozen = StochasticEMRegressor(max_shift=0, random_state=0).fit(X, y)
    np.testing.assert_allclose(frozen.coef_, LinearRegression().fit(X, y).coef_, atol=1e-10)


@pytest.mark.long
def test_three_alignments_agree_on_small_groups():
    data = make_shuffled_regression(
        300, 3, noise=0.4, shuffle="groups", n_groups=60, group_by="random", random_state=2
    )
    coef = {
        name: StochasticEMRegressor(alignment=name, max_iter=200, random_state=0)
        .fit(data.X, data.y, groups=data.groups)
        .coef_
        for name in ("chain", "exact", "sinkhorn")
    }
    error = 0.4 * np.sqrt(3 / 300)  # of a fit with known order
    assert np.linalg.norm(coef["chain"] - coef["exact"]) < 0.3 * error
    assert np.linalg.norm(coef["sinkhorn"] - coef["exact"]) < 2 * error


def test_answers_do_not_depend_on_threads(linked):
    groups = np.arange(400) // 50
    models = [
        StochasticEMRegressor(
            mismatch_rate="estimate", n_jobs=n_jobs, max_iter=4, tol=0, random_state=0
        ).fit(linked.X, linked.y_ordered, groups=groups)
        for n_jobs in (1, 2)
    ]
    assert np.array_equal(models[0].coef_, models[1].coef_)
    assert np.array_equal(models[0].match_proba_, models[1].match_proba_)


X, Y = np.random.default_rng(0).normal(size=(2, 30, 2))
Y = Y[:, 0]
BAD = [
    ({"mismatch_rate": 0.0}, {}, "mismatch_rate"),
    ({"mismatch_rate": 1.0}, {}, "mismatch_rate"),
    ({"mismatch_rate": -0.1}, {}, "mismatch_rate"),
    ({"mismatch_rate": "guess"}, {}, "mismatch_rate"),
    ({"max_shift": -1}, {}, "max_shift"),
    ({"max_shift": 1.5}, {}, "max_shift"),
    ({"alignment": "hungarian"}, {}, "alignment"),
    ({"alignment": "exact"}, {}, "groups of up to 8 rows, but the largest group has 30"),
    ({}, {"match_prob": np.full(30, 1.2)}, "between 0 and 1, but row 0 has 1.2"),
    ({}, {"match_prob": np.full(30, np.nan)}, "between 0 and 1"),
    ({}, {"match_prob": [0.5, 0.5]}, r"match_prob has shape \(2,\) but there are 30 rows"),
    ({}, {"match_prob": ["high"] * 30}, "match_prob must hold numbers"),
    ({"variant": "published", "mismatch_rate": 0.1}, {}, "takes neither mismatch_rate"),
    ({"variant": "published"}, {"match_prob": np.full(30, 0.9)}, "takes neither"),
]


@pytest.mark.parametrize(("parameters", "more", "message"), BAD)
def test_bad_input(parameters, more, message):
    with pytest.raises(ValueError, match=message):
        StochasticEMRegressor(**parameters).fit(X, Y, **more)


def test_mixture_refuses_the_same():
    with pytest.raises(ValueError, match="mismatch_rate"):
        MixtureRegressor(mismatch_rate=2.0).fit(X, Y)
    with pytest.raises(ValueError, match="between 0 and 1"):
        MixtureRegressor().fit(X, Y, match_prob=np.full(30, -1.0))
    with pytest.raises(TypeError, match="match_prob"):
        HardEMRegressor().fit(X, Y, match_prob=np.full(30, 0.5))
