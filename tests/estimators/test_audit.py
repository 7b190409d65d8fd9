"""The audit against what can be counted: pairs by enumeration, guessing by brute force."""

import numpy as np
import pytest

from unshuffle import audit_release
from unshuffle.estimators import audit

pytestmark = pytest.mark.long


def pairs(n=300, noise=0.6, seed=0):
    """One feature, groups of two: the posterior of a pair is one logistic function."""
    rng = np.random.RandomState(seed)
    x = rng.normal(size=n)
    return x, x + noise * rng.normal(size=n), np.arange(n) // 2


@pytest.fixture(scope="module")
def audited():
    x, y, groups = pairs()
    return audit_release(x[:, None], y, groups, n_shuffles=3, random_state=0)


def posterior_of_right_order(x, y, noise):
    """Probability, for each pair, that its labels belong in the true order."""
    return 1 / (1 + np.exp(-(x[::2] - x[1::2]) * (y[::2] - y[1::2]) / noise**2))


def test_pairs_are_found_as_often_as_enumeration_says(audited):
    x, y, _ = pairs()
    right = posterior_of_right_order(x, y, 0.6)
    best = np.mean(right > 0.5)
    # Where both orders are about equally likely 200 draws may name the wrong one.
    unclear = np.mean(np.abs(right - 0.5) < 4 * 0.5 / 200**0.5)
    assert audited.found.value == pytest.approx(best, abs=unclear + 3 * audited.found.error)
    assert best > audited.found_by_guessing.value + 0.2
    assert audited.found_by_guessing.value == 0.5


def test_confidence_means_what_it_says(audited):
    """Rows found with confidence c are right about a share c of the time."""
    x, y, _ = pairs()
    right = posterior_of_right_order(x, y, 0.6)
    sure = np.maximum(right, 1 - right)
    band = audited.bands[-1]
    inside = sure >= 0.9
    assert band.share.value == pytest.approx(inside.mean(), abs=0.08)
    assert band.found.value == pytest.approx((right > 0.5)[inside].mean(), abs=0.05)
    assert band.found.value > 0.9
    assert sum(b.share.value for b in audited.bands) == pytest.approx(1)
    assert not audited.overconfident


def test_coefficients_leak_although_the_release_hides_them(audited):
    assert audited.coefficient_error.value < 0.1
    assert audited.naive_error.value > 0.3


def unrelated(n=300, size=5):
    rng = np.random.RandomState(1)
    return rng.normal(size=(n, 1)), rng.normal(size=n), np.arange(n) // size


def beats_guessing(result):
    gain = result.found.value - result.found_by_guessing.value
    n_guesses = result.n_rows * result.n_shuffles
    share = result.found_by_guessing.value
    return gain > 4.5 * (share * (1 - share) / n_guesses) ** 0.5


def test_labels_unrelated_to_the_features_stay_hidden():
    result = audit_release(*unrelated(), n_shuffles=3, random_state=0)
    assert result.found_by_guessing.value == pytest.approx(0.2)
    assert not beats_guessing(result)


def test_an_attacker_who_peeks_is_noticed(monkeypatch):
    """The control: guesses taken from the truth for a tenth of the rows do beat guessing."""
    honest = audit.attack_numbers

    def peeking(X, y, codes, source, rows, *more):
        attack = honest(X, y, codes, source, rows, *more)
        found = np.where(np.arange(len(rows)) % 10 == 0, 1.0, attack.found)
        return attack._replace(found=found)

    monkeypatch.setattr(audit, "attack_numbers", peeking)
    assert beats_guessing(audit_release(*unrelated(), n_shuffles=3, random_state=0))


def test_guessing_by_brute_force():
    rng = np.random.RandomState(0)
    y, codes = rng.randint(0, 6, size=40).astype(float), rng.randint(0, 7, size=40)
    own, within = audit._by_guessing(y, np.unique(codes, return_inverse=True)[1], 1.0)
    for i in range(40):
        others = y[codes == codes[i]]
        assert own[i] == np.mean(others == y[i])
        assert within[i] == np.mean(np.abs(others - y[i]) <= 1.0)


def test_rows_alone_in_their_group_are_counted():
    x, y, groups = pairs(60)
    groups = groups.copy()
    groups[:2] = [100, 101]
    result = audit_release(x[:, None], y, groups, n_shuffles=2, random_state=0)
    assert (result.n_alone, result.smallest_group) == (2, 1)
    assert result.found_by_guessing.value == pytest.approx((58 * 0.5 + 2) / 60)


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"n_shuffles": 1}, "at least 2"), ({"tolerance": -1.0}, "negative")],
)
def test_wrong_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        audit_release(np.ones((4, 1)), np.arange(4.0), **settings)
