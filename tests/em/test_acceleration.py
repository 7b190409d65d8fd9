"""Extrapolation ends where EM ends, only sooner; samples of groups are whole groups."""

import numpy as np
import pytest

from fitting import in_memory
from unshuffle.alignment.state import State
from unshuffle.data.problem import make_problem
from unshuffle.em.memory import MemoryTable
from unshuffle.em.settings import EMSettings, SampleSettings, SquaremSettings
from unshuffle.em.squarem import SquaremAcceleration
from unshuffle.families.least_squares import LeastSquares


def shuffled_groups(n, size, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X, groups = rng.normal(size=(n, 2)), np.repeat(np.arange(n // size), size)
    y = X @ [1.0, -2.0] + noise * rng.normal(size=n)
    y = rng.permuted(y.reshape(-1, size), axis=1).ravel()
    return X, y, groups


@pytest.fixture
def table():
    X, y, groups = shuffled_groups(60, 6)
    problem = make_problem(X, y, groups, np.zeros(60, dtype=bool))
    return MemoryTable(problem, LeastSquares(X, fit_intercept=True))


def follow(accelerate, state, step, n):
    """Distances from the fixed point of a made-up EM; 0 is the fixed point."""
    lengths = []
    for _ in range(n):
        state = accelerate([], state, state._replace(coef=step(state.coef)))
        lengths.append(np.linalg.norm(state.coef))
    return lengths


def test_a_linear_map_is_followed_to_its_end(table):
    start = table.start_at(np.array([3.0, 3.0]), 0.0)
    turned = np.array([[0.9, 0.02], [0.0, 0.8]])
    ahead = follow(SquaremAcceleration(table, 1, with_rate=False), start, lambda c: turned @ c, 25)
    plain = follow(lambda steps, before, state: state, start, lambda c: turned @ c, 25)
    assert ahead[-1] < 0.05 * plain[-1]


def test_an_extrapolation_that_ends_behind_its_origin_is_undone(table):
    accelerate = SquaremAcceleration(table, 1, with_rate=False)
    state: State = table.start_at(np.array([3.0, 3.0]), 0.0)
    for share in (1.0, 0.9, 0.82):
        before, state = state, accelerate([], state, state._replace(coef=np.full(2, 3.0 * share)))
    assert accelerate.n_extrapolations == 1
    assert np.linalg.norm(state.coef) < 3.0 * 0.82 * 2**0.5
    back = accelerate([], state, state._replace(coef=np.full(2, 9.0)))
    np.testing.assert_allclose(back.coef, 3.0 * 0.82)
    assert np.array_equal(back.fitted, before._replace(coef=back.coef).fitted)


def test_scatter_is_no_direction(table):
    rng = np.random.default_rng(0)
    accelerate = SquaremAcceleration(table, 3, with_rate=False)
    state = table.start_at(np.zeros(2), 0.0)
    for _ in range(60):
        state = accelerate([], state, state._replace(coef=rng.normal(size=2)))
    assert accelerate.n_extrapolations <= 1


@pytest.mark.long
# Small groups converge soon, and extrapolation spares little; large ones are what it is for.
@pytest.mark.parametrize(
    ("alignment", "n", "size", "share"), [("exact", 240, 6, 1.0), ("sinkhorn", 600, 100, 0.5)]
)
def test_extrapolation_reaches_the_same_fit_in_fewer_iterations(alignment, n, size, share):
    X, y, groups = shuffled_groups(n, size)
    fast, plain = (
        in_memory(
            X, y, groups, alignment=alignment, tol=1e-3, max_iter=2000,
            em=EMSettings(squarem=SquaremSettings(longest=longest)),
        )
        for longest in (12.0, 1.0)
    )  # fmt: skip
    assert fast.iterations.n_iter < share * plain.iterations.n_iter
    errors = plain.uncertainty.standard_errors
    np.testing.assert_allclose(fast.coef, plain.coef, atol=0.05 * errors.max())


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


def test_a_fit_that_starts_on_a_sample_agrees_with_one_that_does_not():
    X, y, groups = shuffled_groups(3_000, 6, noise=0.3)
    plain = in_memory(X, y, groups, max_iter=200)
    em = EMSettings(sample=SampleSettings(rows=1_000, fewest_rows=1_000))
    sampled = in_memory(X, y, groups, max_iter=200, em=em)
    errors = plain.uncertainty.standard_errors
    assert np.abs(sampled.coef - plain.coef).max() < 0.5 * errors.max()
    assert not np.array_equal(sampled.iterations.coef[0], plain.iterations.coef[0])
