"""One-to-one links: as good as an assignment over all pairs, in every way of solving it."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from unshuffle.linkage.assignment import assign, take_certain, take_greedily
from unshuffle.linkage.settings import LinkageSettings


def random_pairs(seed, n=30, m=25, share=0.15, steps=None):
    """A random graph; with few `steps` of the probabilities there are ties."""
    rng = np.random.default_rng(seed)
    left, right = np.nonzero(rng.random((n, m)) < share)
    value = rng.uniform(0.01, 1.0, size=len(left))
    return left, right, value if steps is None else np.ceil(value * steps) / steps


def best_sum(left, right, value):
    """By an assignment over the matrix of all pairs."""
    worth = np.zeros((left.max() + 1, right.max() + 1))
    worth[left, right] = value
    return worth[linear_sum_assignment(worth, maximize=True)].sum()


def check_one_to_one(left, right, chosen):
    assert len(np.unique(left[chosen])) == len(chosen) == len(np.unique(right[chosen]))


@pytest.mark.parametrize("steps", [None, 4])
@pytest.mark.parametrize("cells", [1_000_000, 1])
@pytest.mark.parametrize("seed", range(12))
def test_the_sum_is_the_largest_possible(seed, cells, steps):
    """Dense and sparse components (no component has one cell after the certain pairs)."""
    left, right, value = random_pairs(seed, share=0.05 + 0.02 * seed, steps=steps)
    for i, j in ((left, right), (right, left)):
        found = assign(i, j, value, LinkageSettings(dense_cells=cells))
        check_one_to_one(i, j, found.chosen)
        assert abs(value[found.chosen].sum() - best_sum(i, j, value)) < 1e-9
        assert found.n_greedy == 0


@pytest.mark.parametrize("seed", range(8))
def test_certain_pairs_are_in_a_best_assignment(seed):
    left, right, value = random_pairs(seed, share=0.08)
    certain = take_certain(left, right, value)
    check_one_to_one(left, right, certain)
    rest = ~(np.isin(left, left[certain]) | np.isin(right, right[certain]))
    others = best_sum(left[rest], right[rest], value[rest]) if rest.any() else 0.0
    assert abs(value[certain].sum() + others - best_sum(left, right, value)) < 1e-9


def test_huge_components_are_taken_greedily_and_counted():
    left, right, value = random_pairs(0, share=0.5)
    found = assign(left, right, value, LinkageSettings(dense_cells=1, largest_exact=3))
    check_one_to_one(left, right, found.chosen)
    assert found.n_greedy == len(found.chosen) > 20
    assert value[found.chosen].sum() <= best_sum(left, right, value)
    # Greedy by definition: the best pair of all is a link.
    assert int(np.argmax(value)) in take_greedily(left, right, value)


def test_ties_are_marked():
    left, right = np.array([0, 0, 1, 2]), np.array([0, 1, 2, 3])
    found = assign(left, right, np.array([0.7, 0.7, 0.9, 0.2]))
    assert found.chosen.tolist() == [0, 2, 3]
    assert found.tied.tolist() == [True, False, False]
    assert (found.n_components, found.largest) == (3, 3)
