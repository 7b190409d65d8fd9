from itertools import combinations

import numpy as np
import pytest

from unshuffle.kernels.skip_match import find_windows, match_all, match_with_skips


def best_with_skips(mu, y, precision, row_price, label_price):
    """The most that any partial matching saves, by trying all of them in sorted order."""
    best = 0.0
    for size in range(min(len(mu), len(y)) + 1):
        for rows in map(list, combinations(range(len(mu)), size)):
            for labels in map(list, combinations(range(len(y)), size)):
                gain = row_price[rows] + label_price[labels]
                best = max(best, (gain - 0.5 * precision * (y[labels] - mu[rows]) ** 2).sum())
    return best


def saved(mu, y, precision, row_price, label_price, partner):
    rows = np.flatnonzero(partner >= 0)
    labels = partner[rows]
    gain = row_price[rows] + label_price[labels]
    return (gain - 0.5 * precision * (y[labels] - mu[rows]) ** 2).sum()


@pytest.mark.parametrize("seed", range(60))
def test_skips_on_both_sides_equal_brute_force(seed):
    rng = np.random.default_rng(seed)
    r, n_labels = rng.integers(1, 8, size=2) if seed % 6 == 0 else rng.integers(1, 6, size=2)
    mu, y = np.sort(rng.normal(size=r)), np.sort(rng.normal(size=n_labels))
    if seed % 5 == 0:
        y = np.round(y)  # ties
    prices = rng.normal(0.5, 1.0, size=r), rng.normal(0.5, 1.0, size=n_labels)
    precision = float(np.exp(2.0 * rng.normal()))
    partner = np.empty(r, dtype=np.int64)
    found = match_with_skips(mu, y, precision, *prices, partner)
    assert found == pytest.approx(best_with_skips(mu, y, precision, *prices), abs=1e-12)
    assert found == pytest.approx(saved(mu, y, precision, *prices, partner), abs=1e-12)
    held = partner[partner >= 0]
    assert np.all(np.diff(held) > 0)


@pytest.mark.parametrize("seed", range(40))
def test_the_smaller_side_is_matched_as_by_brute_force(seed):
    rng = np.random.default_rng(seed)
    r, n_labels = rng.integers(1, 8, size=2)
    mu, y = np.sort(rng.normal(size=r)), np.sort(rng.normal(size=n_labels))
    price, per_price = rng.normal(size=n_labels), float(rng.uniform(0.0, 0.5))
    partner = np.empty(r, dtype=np.int64)
    found = match_all(mu, y, price, per_price, partner)
    size = min(r, n_labels)

    def cost(rows, labels):
        alone = 0.0 if r >= n_labels else price.sum() - price[labels].sum()
        return ((mu[rows] - y[labels]) ** 2).sum() + per_price * alone

    best = min(
        cost(list(rows), list(labels))
        for rows in combinations(range(r), size)
        for labels in combinations(range(n_labels), size)
    )
    assert found == pytest.approx(best, abs=1e-12)
    rows = np.flatnonzero(partner >= 0)
    assert len(rows) == size
    assert cost(rows, partner[rows]) == pytest.approx(best, abs=1e-12)


def test_a_wrong_matching_is_seen():
    """The control: a greedy matching from below saves less than the best one."""
    mu, y = np.array([0.0, 1.0]), np.array([0.9, 5.0])
    prices = np.ones(2), np.ones(2)
    partner = np.empty(2, dtype=np.int64)
    found = match_with_skips(mu, y, 1.0, *prices, partner)
    np.testing.assert_array_equal(partner, [-1, 0])
    assert found > saved(mu, y, 1.0, *prices, np.array([0, -1]))


def test_nothing_is_matched_at_no_price():
    partner = np.zeros(3, dtype=np.int64)
    assert match_with_skips(np.zeros(3), np.zeros(2), 1.0, np.zeros(3), np.zeros(2), partner) == 0.0
    assert (partner == -1).all()


def test_windows_hold_the_labels_within_reach():
    rng = np.random.default_rng(0)
    mu, y = np.sort(rng.normal(size=30)), np.sort(rng.normal(size=40))
    low, high = np.empty(30, dtype=np.int64), np.empty(30, dtype=np.int64)
    total = find_windows(mu, y, 0.3, low, high)
    assert total == (high - low).sum()
    for i in range(30):
        np.testing.assert_array_equal(
            np.arange(low[i], high[i]), np.flatnonzero(np.abs(y - mu[i]) <= 0.3)
        )
