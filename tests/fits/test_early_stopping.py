"""The number of iterations, chosen by held-out groups."""

import numpy as np
import pytest

from unshuffle import StochasticEMRegressor
from unshuffle.data.groups import encode_groups
from unshuffle.data.problem import make_problem
from unshuffle.datasets import make_shuffled_regression
from unshuffle.estimators._seeding import seed_from
from unshuffle.fits.folds import hold_out
from unshuffle.metrics import log_density_gain


@pytest.fixture(scope="module")
def grouped():
    return make_shuffled_regression(
        160, 2, noise=0.4, shuffle="groups", n_groups=20, random_state=0
    )


def fit(data, **words):
    model = StochasticEMRegressor(max_iter=15, random_state=0, **words)
    return model.fit(data.X, data.y, groups=data.groups)


def test_a_share_of_whole_groups_is_held_out(grouped):
    problem = make_problem(grouped.X, grouped.y, grouped.groups, np.zeros(160, dtype=bool))
    train, test = hold_out(problem, 0.25, seed=0)
    assert test.n_rows == 40
    assert train.n_rows == 120
    assert train.n_blocks + test.n_blocks == 20


def test_all_groups_are_fitted_with_the_number_that_scored_best(grouped):
    model = fit(grouped, early_stopping=True)
    scores = model.validation_scores_
    assert len(scores) == 15
    assert model.n_iter_ == int(np.argmax(scores)) + 1
    again = StochasticEMRegressor(max_iter=model.n_iter_, tol=0, random_state=0)
    again.fit(grouped.X, grouped.y, groups=grouped.groups)
    assert np.array_equal(model.coef_, again.coef_)
    plain = fit(grouped, early_stopping=False, tol=0)
    assert plain.n_iter_ == 15
    assert not hasattr(plain, "validation_scores_")


def test_scores_are_those_of_the_held_out_labels(grouped):
    codes = encode_groups(grouped.groups, 160)
    problem = make_problem(grouped.X, grouped.y, codes, np.zeros(160, dtype=bool))
    seed, seen = seed_from(0), []
    _, test = hold_out(problem, 0.2, seed)
    model = StochasticEMRegressor(
        max_iter=4, early_stopping=True, random_state=0, callback=seen.append
    )
    model.fit(grouped.X, grouped.y, groups=grouped.groups)
    codes = np.repeat(np.arange(test.n_blocks), np.diff(test.starts))
    for step, score in zip(seen[:4], model.validation_scores_, strict=True):
        predicted = test.X @ step.coef + step.intercept
        expected = log_density_gain(test.y, predicted, step.noise_scale, codes)
        assert score == pytest.approx(expected.gain)


def test_iterations_of_the_published_variant_make_held_out_labels_less_likely():
    data = make_shuffled_regression(
        400, 2, noise=0.3, shuffle="groups", n_groups=50, random_state=0
    )
    words = {"variant": "published", "random_state": 0, "fit_intercept": False}
    model = StochasticEMRegressor(early_stopping=True, **words)
    scores = model.fit(data.X, data.y, groups=data.groups).validation_scores_
    assert model.n_iter_ < 5
    assert scores[-1] < scores[model.n_iter_ - 1] - 0.5
    exact = StochasticEMRegressor(early_stopping=True, random_state=0)
    exact.fit(data.X, data.y, groups=data.groups)
    assert exact.validation_scores_.max() > scores.max()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"mismatch_rate": 0.1}, "not for mismatch_rate or match_prob"),
        ({"validation_fraction": 0.0}, "validation_fraction"),
        ({"validation_fraction": 0.9}, "validation_fraction"),
    ],
)
def test_bad_settings_are_named(grouped, words, message):
    with pytest.raises(ValueError, match=message):
        fit(grouped, early_stopping=True, **words)


def test_one_group_cannot_be_held_out(grouped):
    model = StochasticEMRegressor(early_stopping=True, random_state=0)
    with pytest.raises(ValueError, match="one group, so that none can be held out"):
        model.fit(grouped.X, grouped.y)
