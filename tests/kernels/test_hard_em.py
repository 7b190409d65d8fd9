import numpy as np
import pytest

from oracles import best_matched_ss, group_permutations
from unshuffle.kernels.hard_em import Labels, coordinates, descend, fitted_values, support
from unshuffle.kernels.match import rank_inside


def labels_of(n, rank, starts, seed):
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(n, rank)))[0].T.copy()
    y, starts = rng.normal(size=n), np.array(starts, dtype=np.int64)
    ranked = np.empty(n, dtype=np.int64)
    rank_inside(y, starts, ranked)
    return Labels(basis, y[ranked], starts), y, rng


@pytest.mark.parametrize("n", [4, 7, 13, 33])
@pytest.mark.parametrize("rank", [1, 3, 4, 6])
def test_products_match_numpy(n, rank):
    rng = np.random.default_rng(n)
    basis, theta, held = rng.normal(size=(rank, n)), rng.normal(size=rank), rng.normal(size=n)
    mu, out = np.empty(n), np.empty(rank)
    fitted_values(basis, theta, mu)
    np.testing.assert_allclose(mu, theta @ basis, rtol=1e-12, atol=1e-13)
    squared = coordinates(basis, held, out)
    np.testing.assert_allclose(out, basis @ held, rtol=1e-12, atol=1e-13)
    assert squared == pytest.approx(np.sum(out**2))


@pytest.mark.parametrize("momentum", [0.0, 1.5])
def test_steps_never_raise_the_matched_sum_of_squares(momentum):
    labels, y, rng = labels_of(60, 4, [0, 25, 55], 0)
    thetas, value, settled = rng.normal(size=(1, 4)), np.full(1, -1.0), np.zeros(1, dtype=bool)
    explained = []
    while not settled[0]:
        descend(labels, thetas, value, settled, 3, 0.0, momentum)
        explained.append(value[0])
        assert value[0] == pytest.approx(np.sum(thetas[0] ** 2))
    assert np.all(np.diff(explained) >= -1e-12 * np.sum(y**2))
    assert explained[-1] > explained[0]


@pytest.mark.parametrize("momentum", [0.0, 1.5])
def test_descents_end_where_a_plain_step_leads_nowhere(momentum):
    labels, _, rng = labels_of(40, 3, [0, 20, 38], 1)
    thetas, value, settled = rng.normal(size=(5, 3)), np.full(5, -1.0), np.zeros(5, dtype=bool)
    descend(labels, thetas, value, settled, 500, 0.0, momentum)
    assert settled.all()
    ends = thetas.copy()
    settled[:] = False
    descend(labels, thetas, value, settled, 1, 0.0, 0.0)
    assert settled.all()
    np.testing.assert_array_equal(thetas, ends)


def test_support_is_the_best_of_all_matchings():
    labels, y, rng = labels_of(6, 2, [0, 4], 2)
    thetas, values = rng.normal(size=(20, 2)), np.empty(20)
    support(labels, thetas, values)
    for theta, value in zip(thetas, values, strict=True):
        reached = [theta @ labels.basis @ y[p] for p in group_permutations([0, 4], 6)]
        assert value == pytest.approx(max(reached))


def test_one_step_ends_in_the_brute_force_matching():
    labels, y, rng = labels_of(6, 2, [0, 3, 6], 3)
    theta = rng.normal(size=2)
    mu = theta @ labels.basis
    thetas, value, settled = theta[None].copy(), np.full(1, -1.0), np.zeros(1, dtype=bool)
    descend(labels, thetas, value, settled, 1, 0.0, 0.0)
    best = min(group_permutations([0, 3, 6], 6), key=lambda p: np.sum((y[p] - mu) ** 2))
    assert np.sum((y[best] - mu) ** 2) == pytest.approx(best_matched_ss(mu, y, [0, 3, 6]))
    np.testing.assert_allclose(thetas[0], labels.basis @ y[best])
