"""The choice of a setting by held-out groups."""

import numpy as np
import pytest

from unshuffle import (
    ShuffledRegressor,
    ShuffledRegressorCV,
    StochasticEMRegressor,
    UnshuffleWarning,
)
from unshuffle.data.problem import make_problem
from unshuffle.data.threads import Workers
from unshuffle.datasets import make_shuffled_regression
from unshuffle.fits.choice import ChoiceSettings, choose_setting, losses
from unshuffle.fits.data import InMemory
from unshuffle.fits.folds import fold_rows, take_rows
from unshuffle.fits.settings import AutoSettings


def grouped(seed=0, n=120, n_groups=30, noise=0.3):
    return make_shuffled_regression(
        n, 2, noise=noise, shuffle="groups", n_groups=n_groups, random_state=seed
    )


def problem_of(data, n_known=0, seed=0):
    rng = np.random.default_rng(seed)
    mixed, known = rng.permutation(len(data.y)), np.arange(len(data.y)) < n_known
    return make_problem(data.X[mixed], data.y[mixed], data.groups[mixed], known)


def test_every_row_is_held_out_once_with_its_whole_group():
    problem = problem_of(grouped(), n_known=7)
    folds, n_folds = fold_rows(problem, 4, seed=0)
    assert n_folds == 4
    assert np.bincount(folds).max() - np.bincount(folds).min() <= 8
    for first, last in zip(problem.starts[:-1], problem.starts[1:], strict=True):
        assert len(set(folds[first:last])) == 1
    parts = [take_rows(problem, folds == k) for k in range(4)]
    assert sum(part.n_rows for part in parts) == problem.n_rows
    assert sum(part.n_blocks for part in parts) == problem.n_blocks
    held = np.sort(np.concatenate([part.y for part in parts]))
    assert np.array_equal(held, np.sort(problem.y))


def test_parts_keep_features_beside_labels():
    problem = problem_of(grouped(), n_known=7)
    x_of = {label: tuple(problem.X[problem.user_rows(np.array([i]))[0]])
            for i, label in enumerate(problem.y)}  # fmt: skip
    folds, _ = fold_rows(problem, 3, seed=1)
    part = take_rows(problem, folds != 1)
    assert all(x_of[label] == tuple(row) for label, row in zip(part.y, part.X, strict=True))


def test_there_are_no_more_folds_than_groups():
    problem = problem_of(grouped(n_groups=3))
    assert fold_rows(problem, 5, seed=0)[1] == 3
    with pytest.raises(ValueError, match="one group, so that none can be held out; pass groups"):
        fold_rows(problem_of(grouped(n_groups=1)), 5, seed=0)


def testlosses_and_their_errors_are_sums_over_groups():
    by_group = np.array([[1.0, 2.0, 3.0, 4.0], [0.5, 2.5, 2.0, 3.5]])
    lost, error = losses(by_group)
    difference = by_group[0] - by_group[1]
    assert lost == pytest.approx([0.0, difference.sum()])
    assert error == pytest.approx([0.0, 4**0.5 * difference.std(ddof=1)])


def choose(data, **words):
    with Workers(1) as workers:
        held = InMemory(problem_of(data), workers)
        return choose_setting(held, AutoSettings(0, pairing="lost"), ChoiceSettings(**words))


def test_the_plainest_near_the_best_is_chosen_or_the_best():
    data = grouped()
    near, best = choose(data, n_folds=3), choose(data, n_folds=3, rule="best")
    assert near.best == best.best == best.chosen
    assert near.chosen <= best.chosen
    assert near.lost[near.chosen] <= max(near.lost_error[near.chosen], 2.0)
    assert near.setting.temper == 1.0
    assert len(near.settings) == 8


def test_a_ridge_that_is_too_strong_is_not_chosen():
    found = choose(grouped(), n_folds=3, ridges=(0.0, 10.0), tempers=(1.0,))
    assert found.setting.ridge == 0.0
    strong = [k for k, setting in enumerate(found.settings) if setting.ridge == 10.0]
    assert all(found.lost[k] > 3 * found.lost_error[k] for k in strong)


def test_the_estimator_fits_what_was_chosen_and_says_so():
    data = grouped()
    model = ShuffledRegressorCV(cv=3, random_state=0).fit(data.X, data.y, groups=data.groups)
    found = model.cv_results_
    assert model.temper_ == found["temper"][model.chosen_index_]
    assert model.ridge_ == found["ridge"][model.chosen_index_]
    assert model.start_ == found["start"][model.chosen_index_]
    assert found["gain_by_fold"].shape == (8, 3)
    assert "8 settings in 3 folds" in str(model.summary())
    plain = ShuffledRegressor(pairing="lost", random_state=0)
    plain.fit(data.X, data.y, groups=data.groups)
    assert model.verdict_.level == plain.verdict_.level == "trust"
    assert np.allclose(model.coef_, plain.coef_, atol=3 * plain.standard_errors_.max())


@pytest.mark.filterwarnings("ignore::unshuffle.UnidentifiableWarning")
@pytest.mark.parametrize(("n_groups", "words"), [(4, "4 groups are"), (1, "1 group is")])
def test_few_groups_choose_nothing_and_say_so(n_groups, words):
    data = grouped(n_groups=n_groups)
    with pytest.warns(UnshuffleWarning, match=f"{words} too few to choose settings"):
        model = ShuffledRegressorCV(random_state=0).fit(data.X, data.y, groups=data.groups)
    plain = ShuffledRegressor(pairing="lost", random_state=0)
    plain.fit(data.X, data.y, groups=data.groups)
    assert not hasattr(model, "cv_results_")
    assert np.array_equal(model.coef_, plain.coef_)


@pytest.mark.parametrize("n_jobs", [2])
def test_one_seed_gives_one_choice(n_jobs):
    data = grouped()
    one, two = (
        ShuffledRegressorCV(cv=2, tempers=(1.0,), random_state=0, n_jobs=n).fit(
            data.X, data.y, groups=data.groups
        )
        for n in (1, n_jobs)
    )
    assert np.array_equal(one.cv_results_["gain_by_fold"], two.cv_results_["gain_by_fold"])
    assert np.array_equal(one.coef_, two.coef_)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"tempers": ()}, "tempers must hold at least one number, all above zero; got"),
        ({"tempers": (0.0, 1.0)}, "tempers must hold"),
        ({"ridges": (-1.0,)}, "ridges must hold at least one number, all zero or above"),
        ({"ridges": ("a",)}, "ridges must hold"),
        ({"cv": 1}, "cv"),
        ({"rule": "least"}, "rule"),
    ],
)
def test_bad_settings_are_named(words, message):
    data = grouped()
    with pytest.raises(ValueError, match=message):
        ShuffledRegressorCV(random_state=0, **words).fit(data.X, data.y, groups=data.groups)


def test_held_out_groups_choose_the_cautious_fit():
    data = make_shuffled_regression(
        200, 12, noise=3.0, shuffle="groups", n_groups=10, random_state=0
    )
    with pytest.warns(UnshuffleWarning):
        model = ShuffledRegressor(random_state=0).fit(data.X, data.y, groups=data.groups)
        fixed = ShuffledRegressor(temper=1.5, random_state=0).fit(
            data.X, data.y, groups=data.groups
        )
    results = model.cv_results_
    assert set(results["temper"]) == {1.5, 3.0}
    assert np.allclose(np.unique(results["ridge"]), fixed.ridge_ * np.array([0.0, 1.0, 4.0]))
    assert model.chosen_index_ == model.best_index_ == np.argmin(results["lost"])
    assert model.temper_ == results["temper"][model.chosen_index_]
    assert model.ridge_ == results["ridge"][model.chosen_index_]
    assert not hasattr(fixed, "cv_results_")


@pytest.mark.filterwarnings("ignore::unshuffle.UnshuffleWarning")
def test_few_groups_keep_the_fixed_cautious_fit():
    data = make_shuffled_regression(
        120, 12, noise=8.0, shuffle="groups", n_groups=4, random_state=0
    )
    model = ShuffledRegressor(pairing="lost", search="none", random_state=0)
    model.fit(data.X, data.y, groups=data.groups)
    assert model.temper_ == 1.5
    assert model.ridge_ > 0.0
    assert not hasattr(model, "cv_results_")


def test_too_few_rows_left_are_named():
    rng = np.random.default_rng(0)
    X, y, groups = rng.normal(size=(12, 9)), rng.normal(size=12), np.repeat(np.arange(3), 4)
    with pytest.raises(ValueError, match="8 rows are left for 9 features plus an intercept"):
        StochasticEMRegressor(early_stopping=True, validation_fraction=0.34).fit(
            X, y, groups=groups
        )
    with pytest.raises(ValueError, match="rows are left for 9 features"):
        ShuffledRegressorCV(cv=2).fit(X, y, groups=np.arange(12) % 9)
