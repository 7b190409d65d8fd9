"""Leaps lead where EM leads, only sooner; samples of groups are whole groups."""

import numpy as np
import pytest

from unshuffle import StochasticEMRegressor
from unshuffle.alignment.state import State
from unshuffle.data.problem import make_problem
from unshuffle.em import sample as sample_fit
from unshuffle.em.loop import start_from_coefficients
from unshuffle.em.squarem import Leaps
from unshuffle.estimators import _beginning
from unshuffle.families.least_squares import LeastSquares


def shuffled_groups(n, size, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X, groups = rng.normal(size=(n, 2)), np.repeat(np.arange(n // size), size)
    y = X @ [1.0, -2.0] + noise * rng.normal(size=n)
    y = rng.permuted(y.reshape(-1, size), axis=1).ravel()
    return X, y, groups


@pytest.fixture
def setting():
    X, y, groups = shuffled_groups(60, 6)
    problem = make_problem(X, y, groups, np.zeros(60, dtype=bool))
    return problem, LeastSquares(X, fit_intercept=True)


def follow(leaps, state, step, n):
    """Distances from the fixed point of a made-up EM; 0 is the fixed point."""
    lengths = []
    for _ in range(n):
        state = leaps([], state, state._replace(coef=step(state.coef)))
        lengths.append(np.linalg.norm(state.coef))
    return lengths


def test_a_linear_map_is_followed_to_its_end(setting):
    problem, solver = setting
    start = start_from_coefficients(problem, solver, np.array([3.0, 3.0]), 0.0)
    turned = np.array([[0.9, 0.02], [0.0, 0.8]])
    ahead = follow(Leaps(problem, solver, 1, with_rate=False), start, lambda c: turned @ c, 25)
    plain = follow(lambda steps, before, state: state, start, lambda c: turned @ c, 25)
    assert ahead[-1] < 0.05 * plain[-1]


def test_a_leap_that_ends_behind_its_beginning_is_undone(setting):
    problem, solver = setting
    leaps = Leaps(problem, solver, 1, with_rate=False)
    state: State = start_from_coefficients(problem, solver, np.array([3.0, 3.0]), 0.0)
    for share in (1.0, 0.9, 0.82):
        before, state = state, leaps([], state, state._replace(coef=np.full(2, 3.0 * share)))
    assert leaps.n_leaps == 1
    assert np.linalg.norm(state.coef) < 3.0 * 0.82 * 2**0.5
    back = leaps([], state, state._replace(coef=np.full(2, 9.0)))
    np.testing.assert_allclose(back.coef, 3.0 * 0.82)
    assert np.array_equal(back.fitted, before._replace(coef=back.coef).fitted)


def test_scatter_is_no_direction(setting):
    problem, solver = setting
    rng = np.random.default_rng(0)
    leaps = Leaps(problem, solver, 3, with_rate=False)
    state = start_from_coefficients(problem, solver, np.zeros(2), 0.0)
    for _ in range(60):
        state = leaps([], state, state._replace(coef=rng.normal(size=2)))
    assert leaps.n_leaps <= 1


# Small groups settle soon, and leaps spare little; large ones are what they are for.
@pytest.mark.parametrize(
    ("alignment", "n", "size", "share"), [("exact", 240, 6, 1.0), ("sinkhorn", 600, 100, 0.5)]
)
def test_leaps_reach_the_same_fit_in_fewer_iterations(monkeypatch, alignment, n, size, share):
    X, y, groups = shuffled_groups(n, size)
    fits = []
    for plain in (False, True):
        if plain:
            monkeypatch.setattr(_beginning, "leaps", lambda *args: None)
        model = StochasticEMRegressor(alignment=alignment, tol=1e-3, max_iter=2000, random_state=0)
        fits.append(model.fit(X, y, groups=groups))
    assert fits[0].n_iter_ < share * fits[1].n_iter_
    np.testing.assert_allclose(
        fits[0].coef_, fits[1].coef_, atol=0.05 * fits[1].standard_errors_.max()
    )


def test_samples_keep_groups_whole():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    codes, known = rng.permutation(np.repeat(np.arange(8), 5)), np.arange(40) < 4
    problem = make_problem(X, y, codes, known)
    few = problem.thinned(3)
    assert few.n_blocks == 3
    for k, g in enumerate((0, 3, 6)):
        ours = slice(*few.starts[k : k + 2])
        theirs = np.arange(*problem.starts[g : g + 2])
        assert np.array_equal(few.y[ours], problem.y[theirs])
        assert np.array_equal(few.X[ours], X[problem.user_rows(theirs)])
    pinned = np.arange(problem.n_movable, 40)[::3]
    assert np.array_equal(few.y[few.n_movable :], problem.y[pinned])


def test_a_fit_that_began_on_a_sample_agrees_with_one_that_did_not(monkeypatch):
    X, y, groups = shuffled_groups(3_000, 6, noise=0.3)
    plain = StochasticEMRegressor(random_state=0, max_iter=200).fit(X, y, groups=groups)
    monkeypatch.setattr(sample_fit, "FEWEST_ROWS", 1_000)
    monkeypatch.setattr(sample_fit, "SAMPLE_ROWS", 1_000)
    begun = StochasticEMRegressor(random_state=0, max_iter=200).fit(X, y, groups=groups)
    assert np.abs(begun.coef_ - plain.coef_).max() < 0.5 * plain.standard_errors_.max()
    assert not np.array_equal(begun.coef_path_[0], plain.coef_path_[0])
