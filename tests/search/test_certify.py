import numpy as np
import pytest

from oracles import group_permutations
from search.test_population import landscape_of
from unshuffle.datasets import make_shuffled_regression
from unshuffle.search.certify import certify, upper_bounds


@pytest.mark.parametrize("n_features", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_certified_optimum_is_the_best_of_all_permutations(n_features, seed, fit_intercept):
    data = make_shuffled_regression(7, n_features, noise=0.5, random_state=seed)
    landscape = landscape_of(data, known=np.arange(7) < seed, fit_intercept=fit_intercept)
    starts, y = landscape.problem.starts, landscape.y
    best = min(
        landscape.total - np.sum((landscape.labels.basis @ y[p]) ** 2)
        for p in group_permutations(starts, 7)
    )
    proof = certify(landscape, np.full(n_features, 1e-3))
    assert proof.certified
    assert landscape.total - proof.theta @ proof.theta == pytest.approx(best)
    assert proof.lower_bound <= best + 1e-12
    assert proof.lower_bound == pytest.approx(best, rel=1e-5)


def test_dense_grid_of_angles_finds_nothing_better():
    data = make_shuffled_regression(100, 2, noise=0.3, random_state=1)
    landscape = landscape_of(data)
    angle = np.linspace(0, 2 * np.pi, 20_001)
    thetas = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    grid = landscape.total - landscape.support(thetas).max() ** 2
    proof = certify(landscape, thetas[0])
    assert proof.certified
    assert proof.lower_bound <= landscape.total - proof.theta @ proof.theta <= grid
    assert grid == pytest.approx(proof.lower_bound, rel=1e-3)


def test_bounds_hold_inside_their_cones_and_lower_ones_would_not():
    data = make_shuffled_regression(60, 3, noise=0.3, random_state=0)
    landscape = landscape_of(data)
    rng = np.random.default_rng(0)
    cones = rng.normal(size=(40, 1, 3)) + 0.3 * rng.normal(size=(40, 3, 3))
    cones /= np.linalg.norm(cones, axis=2, keepdims=True)
    values = landscape.support(cones.reshape(-1, 3)).reshape(40, 3)
    bounds = upper_bounds(cones, values)
    shares = rng.dirichlet(np.ones(3), size=300)
    broken = 0
    for cone, bound in zip(cones, bounds, strict=True):
        inside = shares @ cone
        inside /= np.linalg.norm(inside, axis=1, keepdims=True)
        reached = landscape.support(inside)
        assert np.all(reached <= bound * (1 + 1e-12))
        broken += np.any(reached > 0.9 * bound)
    assert broken > 20  # the bound is no empty promise


def test_too_many_directions_are_not_tried():
    assert (
        certify(landscape_of(make_shuffled_regression(30, 4, random_state=0)), np.ones(4)) is None
    )
