from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm

from unshuffle import ShuffledRegressor, StochasticEMRegressor
from unshuffle.alignment.priors import Prior
from unshuffle.data.problem import make_problem
from unshuffle.datasets import make_shuffled_regression
from unshuffle.inference.bootstrap import Source, basic_interval


def source(prior, n_blocks, size, rate=np.nan):
    n = n_blocks * size
    codes = np.repeat(np.arange(n_blocks), size)
    problem = make_problem(np.ones((n, 1)), np.arange(float(n)), codes, np.zeros(n, dtype=bool))
    return Source(problem, prior, np.arange(float(n)), 0.0, rate)


def test_lost_order_is_shuffled_evenly_inside_groups():
    rng, made = np.random.default_rng(0), source(Prior(), 2000, 3)
    perm = made.draw_permutation(rng).reshape(2000, 3) - 3 * np.arange(2000)[:, None]
    assert np.all(np.sort(perm, axis=1) == [0, 1, 2])
    _, counts = np.unique(perm, axis=0, return_counts=True)
    assert len(counts) == 6
    assert np.all(np.abs(counts - 2000 / 6) < 4.5 * np.sqrt(2000 * 5 / 36))


@pytest.mark.parametrize(("n_blocks", "size"), [(1, 4000), (800, 2), (400, 5)])
def test_mostly_right_rows_are_misplaced_at_the_rate(n_blocks, size):
    rng, made = np.random.default_rng(1), source(Prior(0.1, True), n_blocks, size, rate=0.2)
    n, n_draws = n_blocks * size, 20
    perms = np.array([made.draw_permutation(rng) for _ in range(n_draws)])
    assert np.all(np.sort(perms, axis=1) == np.arange(n))
    assert np.all(perms // size == np.arange(n) // size)
    share = np.mean(perms != np.arange(n))
    # Rows leave in pairs at worst, which doubles the binomial variance.
    error = np.sqrt(2 * 0.2 * 0.8 / (n * n_draws))
    assert abs(share - 0.2) < 4.5 * error
    assert abs(share - 0.1) > 4.5 * error  # the rate at the start is not the one estimated


def test_rows_are_misplaced_by_their_own_probabilities():
    matched = np.where(np.arange(4000) % 2, 0.95, 0.5)
    made = source(Prior(match_prob=matched), 1, 4000)
    away = made.draw_permutation(np.random.default_rng(2)) != np.arange(4000)
    for kind, expected in ((0, 0.5), (1, 0.05)):
        error = np.sqrt(expected * (1 - expected) / 2000)
        assert abs(away[kind::2].mean() - expected) < 4.5 * error


@pytest.mark.parametrize("rate", [None, 0.3])
def test_labels_within_reach_go_where_the_fit_sees_them(rate):
    prior = Prior(rate, places=np.arange(60, dtype=np.int64), reach=2)
    made = source(prior, 1, 60, 0.3)
    swapped = np.arange(60)
    swapped[:20] = swapped[:20].reshape(-1, 2)[:, ::-1].ravel()
    y = made.problem.y[swapped]
    sure = replace(made, problem=replace(made.problem, y=y), noise_scale=0.1)
    assert np.all(sure.draw_permutation(np.random.default_rng(0)) == swapped)
    vague = replace(sure, noise_scale=30.0, prior=replace(prior, rate=None))
    shifts = vague.draw_permutation(np.random.default_rng(0)) - np.arange(60)
    assert np.abs(shifts).max() == 2


def test_known_order_stays():
    made = source(None, 3, 4)
    assert np.all(made.draw_permutation(np.random.default_rng(0)) == np.arange(12))
    assert np.all(made.simulate(np.random.default_rng(0)).y == np.arange(12))


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_known_order_gives_the_classical_errors(fit_intercept):
    data = make_shuffled_regression(80, 2, shuffle="swaps", n_swaps=0, random_state=0)
    model = ShuffledRegressor(pairing="known", fit_intercept=fit_intercept, random_state=0)
    found = model.fit(data.X, data.y).bootstrap(800)
    X = sm.add_constant(data.X) if fit_intercept else data.X
    classical = sm.OLS(data.y, X).fit()
    # The relative error of a standard deviation is 1 / sqrt(2 B).
    ratio = found.standard_errors / classical.bse
    assert np.all(np.abs(ratio - 1) < 4.5 / np.sqrt(1600))
    assert np.all(np.abs(found.draws.mean(axis=0) - classical.params) < 4.5 * classical.bse / 28)
    low, high = found.noise_scale_interval()
    assert 0 < low < model.noise_scale_ < high
    with pytest.raises(ValueError, match="no rate of mismatches"):
        found.mismatch_rate_interval()


def test_basic_interval_reflects_the_errors_of_the_replicates():
    draws = np.arange(1.0, 100.0)  # quantiles at k / 100
    np.testing.assert_allclose(
        basic_interval(np.array([40.0]), draws, 0.9), [[80.0 - 95.0, 80.0 - 5.0]]
    )


@pytest.fixture(scope="module")
def small():
    data = make_shuffled_regression(
        60, 1, noise=0.3, coef=[1.0], shuffle="groups", n_groups=20, group_by="random",
        random_state=0,
    )  # fmt: skip
    return StochasticEMRegressor(max_iter=100, n_steps=2000, random_state=0).fit(
        data.X, data.y, groups=data.groups
    )


def test_threads_and_repetition_do_not_change_the_answer(small):
    once, again = small.bootstrap(12, n_jobs=1), small.bootstrap(12, n_jobs=2)
    np.testing.assert_array_equal(once.draws, again.draws)
    np.testing.assert_array_equal(once.noise_scale_draws, again.noise_scale_draws)
    # Replicates are keyed by their number: more of them start with the same ones.
    np.testing.assert_array_equal(small.bootstrap(5).draws, once.draws[:5])
    other = small.bootstrap(12, random_state=1)
    assert np.all(other.draws != once.draws)
    assert len(np.unique(once.draws[:, 1])) == 12


def test_an_interrupted_bootstrap_leaves_the_fit_as_it_was(small, monkeypatch):
    before, calls = dict(vars(small)), []

    def stop(source, rng):
        calls.append(rng)
        raise KeyboardInterrupt

    monkeypatch.setattr(Source, "simulate", stop)
    for n_jobs in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            small.bootstrap(40, n_jobs=n_jobs)
    assert len(calls) < 20
    assert vars(small) == before


def test_progress_is_shown_on_request(small, capsys):
    small.bootstrap(4, verbose=1)
    assert "replicates" in capsys.readouterr().err
    small.bootstrap(4)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("n_boot", [0, 1, 2.5, True, "many"])
def test_bad_numbers_of_replicates_are_named(small, n_boot):
    with pytest.raises(ValueError, match="n_boot must be a whole number of at least 2"):
        small.bootstrap(n_boot)


def test_bad_requests_are_named(small):
    with pytest.raises(ValueError, match=r"level 0.95 needs at least 39 replicates, there are 10"):
        small.conf_int(method="bootstrap", n_boot=10)
    with pytest.raises(ValueError, match="level is a share"):
        small.conf_int(95, method="bootstrap")
    with pytest.raises(TypeError, match="n_boots"):
        small.conf_int(method="bootstrap", n_boots=10)
    published = StochasticEMRegressor(variant="published", max_iter=2, random_state=0)
    published.fit(np.arange(8.0)[:, None], np.arange(8.0))
    with pytest.raises(ValueError, match="variant='exact'"):
        published.bootstrap()


def test_posterior_is_asked_where_there_is_one(small):
    class Sampler:
        def interval(self, level):
            return level

    class Without(StochasticEMRegressor):
        posterior = None

    class With(StochasticEMRegressor):
        def posterior(self, n_samples):
            assert n_samples == 7
            return Sampler()

    for kind in (Without, With):
        model = kind()
        vars(model).update(vars(small))
        if kind is With:
            assert model.conf_int(0.8, method="posterior", n_samples=7) == 0.8
        else:
            with pytest.raises(ValueError, match="ShuffledRegressor and StochasticEMRegressor"):
                model.conf_int(method="posterior")


@pytest.mark.long
@pytest.mark.parametrize("kind", ["mostly right", "cautious", "unpaired", "reach"])
def test_every_kind_of_fit_has_a_bootstrap(kind):
    data = make_shuffled_regression(
        80, 1, noise=0.2, coef=[1.0], shuffle="fraction", fraction=0.2, random_state=0
    )
    quick = {"max_iter": 60, "n_steps": 2000, "random_state": 0}
    if kind == "mostly right":
        data = make_shuffled_regression(
            200, 1, noise=0.2, coef=[1.0], shuffle="fraction", fraction=0.2, random_state=0
        )
        model = ShuffledRegressor(pairing="mostly-right", random_state=0).fit(data.X, data.y)
        assert model.start_ == "labels as given"
    elif kind == "cautious":
        model = StochasticEMRegressor(ridge=0.1, temper=1.2, **quick)
        model.fit(data.X, data.y, groups=np.arange(80) // 4)
        assert np.isnan(model.conf_int()).all()
    elif kind == "unpaired":
        groups = np.arange(80) // 4
        model = ShuffledRegressor(search="population", n_candidates=20, random_state=0)
        model.fit_unpaired(data.X, data.y_ordered, groups, groups)
    else:
        y = data.y_ordered.reshape(-1, 2)[:, ::-1].ravel()
        model = StochasticEMRegressor(max_shift=1, **quick).fit(data.X, y)
    found = model.bootstrap(40)
    interval = found.interval()
    assert np.all(np.isfinite(interval))
    assert np.all(interval[:, 0] < interval[:, 1])
    if kind == "mostly right":
        low, high = found.mismatch_rate_interval()
        assert 0 < low < model.mismatch_rate_ < high < 1
        for method in ("information", "sandwich"):
            low, high = model.mismatch_rate_interval(method=method)
            assert 0 < low < model.mismatch_rate_ < high < 1
            low, high = model.noise_scale_interval(method=method)
            assert 0 < low < model.noise_scale_ < high


def coverage(make, settings, n_sets, n_boot):
    """Share of intervals that cover: by the bootstrap, and by least squares on labels as given."""
    inside, as_given = [], []
    for seed in range(n_sets):
        data = make(seed)
        model = StochasticEMRegressor(max_iter=200, random_state=seed, **settings)
        model.fit(data.X, data.y, groups=data.groups)
        for found, kept in (
            (model.conf_int(method="bootstrap", n_boot=n_boot), inside),
            (model.summary().as_given.interval(0.95), as_given),
        ):
            low, high = found[1:].T
            kept.append((low <= data.coef) & (data.coef <= high))
    return np.mean(inside), np.mean(as_given)


def triples(seed):
    return make_shuffled_regression(
        60, 1, noise=0.3, coef=[1.0], shuffle="groups", n_groups=20, group_by="random",
        random_state=seed,
    )  # fmt: skip


@pytest.mark.long
def test_intervals_cover_and_those_of_labels_as_given_do_not():
    inside, as_given = coverage(triples, {"n_steps": 2000}, 20, 39)
    limit = 0.95 - 4.5 * np.sqrt(0.95 * 0.05 / 20)
    assert inside > limit
    assert as_given < limit


def linked(seed):
    return make_shuffled_regression(
        500, 5, noise=0.5, shuffle="fraction", fraction=0.2, random_state=seed
    )


def small_groups(seed):
    return make_shuffled_regression(
        600, 4, noise=0.5, shuffle="groups", n_groups=40, group_by="random", random_state=seed
    )


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(
    ("make", "settings"), [(linked, {"mismatch_rate": "estimate"}), (small_groups, {})]
)
def test_intervals_cover_on_larger_data(make, settings):
    n_sets = 60
    inside, as_given = coverage(make, settings, n_sets, 99)
    # Intervals of one set go together, so sets are counted and not coefficients.
    limit = 0.95 - 3.0 * np.sqrt(0.95 * 0.05 / n_sets)
    assert limit < inside
    assert as_given < limit
