"""Scores of labels in known, mostly right and lost order."""

import numpy as np
import pytest
import sklearn
from scipy.stats import norm
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate

from unshuffle import (
    HardEMRegressor,
    MixtureRegressor,
    ShuffledRegressor,
    StochasticEMRegressor,
)
from unshuffle.metrics import (
    log_density_gain,
    log_density_scorer,
    matched_r2,
    matched_r2_scorer,
)


def shuffled_inside(seed, n=240, size=6, noise=0.8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    ordered = X @ [2.0, -1.0] + noise * rng.normal(size=n)
    groups = np.arange(n) // size
    return X, ordered[np.lexsort((rng.random(n), groups))], groups, ordered


def linked(seed, n=300, rate=0.2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = X @ [2.0, -1.0] + 0.5 * rng.normal(size=n)
    moved = rng.permutation(n)[: round(rate * n)]
    y[moved] = y[rng.permutation(moved)]
    return X, y


@pytest.mark.parametrize("seed", range(3))
def test_a_grid_over_the_pairing_finds_that_the_order_is_lost(seed):
    X, y, groups, ordered = shuffled_inside(seed)
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            ShuffledRegressor(random_state=0), {"pairing": ["known", "lost"]}, cv=GroupKFold(4)
        ).fit(X, y, groups=groups)
    assert search.best_params_ == {"pairing": "lost"}
    assert r2_score(ordered, search.predict(X)) > 0.8
    # R² against labels as given would choose the other.
    known, lost = (r2_score(y, m.predict(X)) for m in (
        LinearRegression().fit(X, y), search.best_estimator_,
    ))  # fmt: skip
    assert known > lost


def test_labels_in_order_are_scored_by_r2():
    X, _, _, ordered = shuffled_inside(0)
    model = ShuffledRegressor(random_state=0).fit(X, ordered)
    assert model.score(X, ordered) == pytest.approx(r2_score(ordered, model.predict(X)))
    weight = np.arange(len(X)) % 3
    expected = r2_score(ordered, model.predict(X), sample_weight=weight)
    assert model.score(X, ordered, sample_weight=weight) == pytest.approx(expected)


@pytest.mark.parametrize("estimator", [StochasticEMRegressor, HardEMRegressor, ShuffledRegressor])
def test_a_fit_inside_groups_asks_for_groups(estimator):
    X, y, groups, _ = shuffled_inside(1)
    model = estimator(random_state=0).fit(X, y, groups=groups)
    with pytest.raises(ValueError, match=r"inside 40 groups.*score\(X, y, groups="):
        model.score(X, y)
    gain = log_density_gain(y, model.predict(X), model.noise_scale_, groups)
    assert model.score(X, y, groups=groups) == gain.r2 > 0.3
    with pytest.raises(ValueError, match="leave sample_weight out"):
        model.score(X, y, sample_weight=np.ones(len(y)), groups=groups)


def test_one_lost_group_is_scored_as_one():
    X, y, _, _ = shuffled_inside(2)
    model = StochasticEMRegressor(random_state=0, init=[2.0, -1.0]).fit(X, y)
    one = log_density_gain(y, model.predict(X), model.noise_scale_)
    assert model.score(X, y) == one.r2


def test_all_known_rows_are_scored_by_r2():
    X, _, _, ordered = shuffled_inside(2)
    known = np.ones(len(X), dtype=bool)
    model = StochasticEMRegressor(random_state=0).fit(X, ordered, known=known)
    assert model.score(X, ordered) == pytest.approx(r2_score(ordered, model.predict(X)))


def test_mismatched_labels_are_scored_by_the_mixture():
    X, y = linked(0)
    model = MixtureRegressor().fit(X, y)
    mu, s, a = model.predict(X), model.noise_scale_, model.mismatch_rate_
    own, other = norm.pdf(y, mu, s), norm.pdf(y[:, None], mu, s).mean(axis=1)
    logs = np.log((1 - a) * own + a * other)
    gain = logs.mean() - norm.logpdf(y, y.mean(), y.std()).mean()
    assert model.score(X, y) == pytest.approx(1 - np.exp(-2 * gain))
    # The labels as given fit least squares better one by one, but are less likely under it.
    plain = LinearRegression().fit(X, y)
    scale = np.std(y - plain.predict(X))
    normal = log_density_gain(y, plain.predict(X), scale, pairing="known")
    assert model.score(X, y) > normal.r2


def test_scorers_get_groups_by_routing():
    X, y, groups, _ = shuffled_inside(3)
    with sklearn.config_context(enable_metadata_routing=True):
        found = cross_validate(
            StochasticEMRegressor(random_state=0),
            X,
            y,
            params={"groups": groups},
            cv=GroupKFold(3),
            scoring={"density": log_density_scorer, "matched": matched_r2_scorer},
        )
    assert (found["test_density"] > 0.1).all()
    assert (found["test_matched"] > 0.3).all()


def test_the_matched_score_is_bounded_and_zero_for_unrelated_predictions():
    X, y, groups, ordered = shuffled_inside(4, n=1_200)
    rng = np.random.default_rng(0)
    good = matched_r2(y, X @ [2.0, -1.0], groups)
    unrelated = [matched_r2(y, rng.permutation(ordered), groups) for _ in range(20)]
    assert good > 0.5
    # Standard error of the mean, and of the 20 draws that each score subtracts.
    assert abs(np.mean(unrelated)) < 5 * np.std(unrelated) * (2 / 20) ** 0.5
    assert -1.0 <= matched_r2(y, 1e6 * ordered, groups) <= 1.0
    assert matched_r2(ordered, ordered, groups) == 1.0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"noise_scale": 0.0}, "a positive number from .* got 0.0"),
        ({"noise_scale": np.nan}, "positive number"),
        ({"pairing": "sorted"}, "one of lost, mostly-right, known; got 'sorted'"),
        ({"mismatch_rate": 1.5}, "between 0 and 1; got 1.5"),
        ({"y": [1.0, np.nan, 2.0]}, "y holds NaN or infinity"),
        ({"y": [1.0, 2.0]}, "2 labels but there are 3 predictions"),
        ({"groups": [0, 0]}, "groups"),
    ],
)
def test_bad_input_is_named(words, message):
    given = {"y": [1.0, 2.0, 3.0], "predicted": [1.0, 2.0, 2.5], "noise_scale": 1.0} | words
    with pytest.raises(ValueError, match=message):
        log_density_gain(**given)


def test_one_group_cannot_be_matched_against_chance():
    with pytest.raises(ValueError, match="at least two groups"):
        matched_r2([1.0, 2.0], [1.0, 2.0])
