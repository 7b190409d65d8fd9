"""Bootstrap of fits of families: rows or groups drawn with replacement."""

import pickle

import numpy as np
import pytest

from unshuffle import (
    MixtureRegressor,
    ShuffledClassifier,
    ShuffledCoxRegressor,
    ShuffledRegressor,
    StochasticEMRegressor,
)
from unshuffle.families.catalogue import FAMILIES
from unshuffle.fits.glm.bootstrap import draws_groups
from unshuffle.fits.glm.refit import refit, start_at
from unshuffle.fits.glm.resample import (
    draw_units,
    repeated_draw,
    sizes_of_units,
    weighted_draw,
)

COEF = np.array([0.8, -0.5])


def linked(name, n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = FAMILIES[name].simulate(0.5 + X @ COEF, 4.0, rng)
    y[: n // 5] = y[: n // 5][rng.permutation(n // 5)]
    return X, y


def lost(name, n_groups=40, size=6, seed=0):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    X = rng.normal(size=(len(groups), 2)) + 0.5 * rng.normal(size=(n_groups, 2))[groups]
    y = FAMILIES[name].simulate(0.3 + X @ COEF, 4.0, rng)
    return X, y[np.lexsort([rng.random(len(groups)), groups])], groups


@pytest.mark.parametrize("name", ["poisson", "gamma"])
def test_standard_errors_are_those_of_the_sandwich(name):
    X, y = linked(name)
    model = ShuffledRegressor(family=name, pairing="mostly-right", random_state=0).fit(X, y)
    found = model.bootstrap(40)
    sandwich = np.sqrt(np.diag(model.covariance("sandwich")))
    assert np.all(np.abs(np.log(found.standard_errors / sandwich)) < 0.4)
    assert found.n_unsettled <= 3
    low, high = found.mismatch_rate_interval()
    assert low < model.mismatch_rate_ < high


def test_one_seed_one_answer_whatever_the_threads():
    X, y = linked("poisson", 150)
    model = MixtureRegressor(family="poisson").fit(X, y)
    assert np.array_equal(
        model.conf_int(method="bootstrap", n_boot=6, level=0.6), model.bootstrap(6).interval(0.6)
    )
    rate = model.mismatch_rate_interval(method="bootstrap", n_boot=6, level=0.6)
    assert np.array_equal(rate, model.bootstrap(6).mismatch_rate_interval(0.6))
    first = model.bootstrap(6, random_state=1)
    assert np.array_equal(first.draws, model.bootstrap(6, random_state=1, n_jobs=2).draws)
    assert not np.array_equal(first.draws, model.bootstrap(6, random_state=2).draws)


@pytest.mark.parametrize("name", ["poisson", "bernoulli"])
def test_groups_are_drawn_where_the_order_is_lost(name):
    X, y, groups = lost(name)
    kind = ShuffledClassifier if name == "bernoulli" else StochasticEMRegressor
    more = {"pairing": "lost"} if name == "bernoulli" else {"family": name}
    model = kind(random_state=0, **more).fit(X, y, groups=groups)
    found = model.bootstrap(20)
    assert np.all(np.abs(np.log(found.standard_errors / model.standard_errors_)) < 0.8)
    with pytest.raises(ValueError, match="no rate of mismatches"):
        found.mismatch_rate_interval()


def test_times():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    time = rng.exponential(np.exp(-X @ [1.0, -0.5]))
    y = np.column_stack([time < 3.0, np.minimum(time, 3.0)])
    known = ShuffledCoxRegressor(pairing="known").fit(X, y)
    found = known.bootstrap(60)
    assert np.all(np.abs(np.log(found.standard_errors / known.standard_errors_)) < 0.3)
    y[:60] = y[np.roll(np.arange(60), 1)]
    model = ShuffledCoxRegressor(pairing="mostly-right").fit(X, y)
    some = model.bootstrap(3)
    assert np.isfinite(some.draws).all()
    assert np.all(np.abs(some.draws - model.coef_) < 6 * model.standard_errors_)


def test_every_unit_once_is_the_fit_itself():
    X, y = linked("gamma", 200)
    model = ShuffledRegressor(family="gamma", pairing="mostly-right", random_state=0).fit(X, y)
    data, fit = model._family_data, model._found
    sizes = sizes_of_units(data, by_group=False)
    start = start_at(data, fit)
    again = weighted_draw(data, sizes, np.ones(len(sizes), dtype=int))
    found = refit(again, FAMILIES["gamma"], "mostly-right", start, model._family_settings, 0)
    coef, _ = data.design.natural(found.theta)
    np.testing.assert_allclose(coef, model.coef_, atol=1e-4)
    assert found.rate == pytest.approx(model.mismatch_rate_, abs=1e-3)
    # The control: other units.
    other = weighted_draw(data, sizes, draw_units(sizes, np.random.default_rng(0)))
    moved = refit(other, FAMILIES["gamma"], "mostly-right", start, model._family_settings, 0)
    assert np.abs(data.design.natural(moved.theta)[0] - model.coef_).max() > 1e-3


def test_drawn_groups_are_whole_and_rows_keep_their_place():
    X, y, groups = lost("poisson", n_groups=5, size=3)
    known = np.arange(15) == 14
    model = ShuffledRegressor(family="poisson", pairing="mostly-right", mismatch_rate=0.2)
    data = model.fit(X, y, groups=groups, known=known)._family_data
    sizes = sizes_of_units(data, by_group=True)
    assert sizes.tolist() == [3, 3, 3, 3, 2, 1]
    drawn = np.array([2, 0, 1, 0, 1, 3])
    twice = repeated_draw(data, sizes, drawn)
    assert twice.problem.starts.tolist() == [0, 3, 6, 9, 11]
    assert twice.problem.n_rows == 14
    assert np.array_equal(twice.y[:3], twice.y[3:6])
    heavy = weighted_draw(data, sizes, drawn)
    assert heavy.problem.starts.tolist() == [0, 3, 6, 8]
    assert heavy.weights.tolist() == [2.0] * 3 + [1.0] * 5 + [3.0]
    np.testing.assert_allclose(heavy.Z.T @ (heavy.weights * heavy.y), twice.Z.T @ twice.y)


def test_what_cannot_be_resampled():
    X, y, groups = lost("poisson", n_groups=12)
    model = ShuffledRegressor(family="poisson", pairing="lost", random_state=0)
    model.fit(X, y, groups=groups)
    with pytest.raises(ValueError, match=r"draws whole groups .* there are 12; it needs 13"):
        model.bootstrap()
    few = ShuffledRegressor(family="poisson", pairing="known").fit(X[:12], y[:12])
    with pytest.raises(ValueError, match="draws rows, and there are 12; it needs 13"):
        few.bootstrap()
    with pytest.raises(ValueError, match="n_boot must be a whole number"):
        model.bootstrap(1)
    with pytest.raises(ValueError, match="takes no further options, got n_boot"):
        model.conf_int(n_boot=3)
    with pytest.raises(ValueError, match="loaded from a file"):
        pickle.loads(pickle.dumps(model)).bootstrap()


@pytest.mark.parametrize("kind", ["classes", "times", "mixture", "stochastic"])
def test_pickles_hold_no_labels(kind):
    X, y = linked("gamma", 800)
    if kind == "classes":
        model = ShuffledClassifier(pairing="mostly-right").fit(X, y > 2.0)
    elif kind == "times":
        model = ShuffledCoxRegressor(pairing="mostly-right")
        model.fit(X, np.column_stack([np.ones(800), y]))
    elif kind == "mixture":
        model = MixtureRegressor(family="gamma").fit(X, y)
    else:
        model = StochasticEMRegressor(family="gamma", mismatch_rate="estimate").fit(X, y)
    content = pickle.dumps(model)
    again = pickle.loads(content)
    assert np.array_equal(again.predict(X), model.predict(X))
    most = 8 * 800 * (5 if kind == "times" else 3)  # what is asked of each row
    assert len(content) < most < len(content) + y.nbytes  # the control: a column more
    assert y[:50].tobytes() not in content
    with pytest.raises(ValueError, match="not part of a stored model"):
        again.suspects()
    assert len(model.suspects(1.0))


def test_many_groups_are_drawn_whole_where_the_order_is_mostly_right():
    X, y = linked("poisson", 200)
    for n_groups, whole in ((50, True), (5, False)):
        model = ShuffledRegressor(family="poisson", pairing="mostly-right", mismatch_rate=0.2)
        model.fit(X, y, groups=np.arange(200) % n_groups)
        assert draws_groups(model._family_data, "mostly-right") is whole
        assert np.isfinite(model.bootstrap(3).draws).all()
