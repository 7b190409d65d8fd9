"""Message passing over partial matchings, against enumeration."""

from itertools import combinations, permutations

import numpy as np
import pytest

from unshuffle.kernels.partial_bethe import BetheSums, sum_matchings


def enumerate_matchings(mu, y, gain, precision):
    """Log of the sum over all partial matchings, and expectations under it."""
    total, means = 0.0, [np.zeros(len(mu)), np.zeros(len(mu)), np.zeros(len(mu)), np.zeros(len(y))]
    for size in range(min(len(mu), len(y)) + 1):
        for rows in map(list, combinations(range(len(mu)), size)):
            for labels in map(list, permutations(range(len(y)), size)):
                distance = (y[labels] - mu[rows]) ** 2
                weight = np.exp((gain[labels] - 0.5 * precision * distance).sum())
                total += weight
                means[0][rows] += weight
                means[1][rows] += weight * y[labels]
                means[2][rows] += weight * y[labels] ** 2
                means[3][labels] += weight
    return np.log(total), np.concatenate(means) / total


def make_case(seed, r, n_labels, scale=1.0):
    rng = np.random.default_rng(seed)
    mu, y = rng.normal(size=r), np.sort(rng.normal(size=n_labels))
    return mu, y, scale * rng.normal(0.5, 1.0, size=n_labels), float(rng.uniform(0.5, 6.0))


def by_messages(case, n_iter=500):
    mu, y, gain, precision = case
    sums = BetheSums(*(np.empty(len(mu)) for _ in range(3)), np.empty(len(y)))
    log_sum = sum_matchings(mu, y, gain, precision, n_iter, 1e-12, sums)
    return log_sum, np.concatenate(sums)


@pytest.mark.parametrize(("r", "n_labels"), [(1, 1), (1, 5), (5, 1)])
def test_one_row_or_one_label_is_exact(r, n_labels):
    for seed in range(4):
        case = make_case(seed, r, n_labels)
        exact, found = enumerate_matchings(*case), by_messages(case)
        assert found[0] == pytest.approx(exact[0], abs=1e-9)
        np.testing.assert_allclose(found[1], exact[1], atol=1e-8)


@pytest.mark.parametrize("seed", range(8))
def test_small_groups_are_near_and_below_the_sum(seed):
    case = make_case(seed, *[(5, 5), (3, 5), (5, 2), (4, 4)][seed % 4])
    (exact, means), (log_sum, found) = enumerate_matchings(*case), by_messages(case)
    assert exact - 0.15 < log_sum <= exact + 1e-9
    assert np.abs(found - means).max() < 0.05
    # The control: one round of messages is not the fixed point.
    assert np.abs(by_messages(case, n_iter=1)[1] - means).max() > np.abs(found - means).max()


def test_weights_of_any_size_keep_their_digits():
    """With weights of 1e20 a sum less its largest term would be rounding."""
    mu, y = np.array([0.0, 1.0]), np.array([0.0, 1.0])
    log_sum, means = by_messages((mu, y, np.full(2, 46.0), 200.0))
    exact = enumerate_matchings(mu, y, np.full(2, 46.0), 200.0)
    assert log_sum == pytest.approx(exact[0], abs=1e-6)
    np.testing.assert_allclose(means, exact[1], atol=1e-6)
