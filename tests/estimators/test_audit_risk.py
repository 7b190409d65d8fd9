"""How safe a release is called, and why: against cases whose answer is known."""

import numpy as np
import pytest

from unshuffle import audit_release
from unshuffle.estimators._audit_attack import category_codes
from unshuffle.estimators._audit_risk import row_risks, zone_risks

pytestmark = pytest.mark.long


def people(n=120, noise=0.05, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, X @ [1.0, 2.0] + noise * rng.normal(size=n)


def audit(X, y, groups, **more):
    return audit_release(X, y, groups, n_shuffles=2, random_state=0, **more)


def levels(result):
    """Levels of the checks: exposed rows, rows hidden by no shuffle, attack against guessing."""
    return [reason.level for reason in result.reasons]


def test_every_row_alone_is_no_protection():
    X, y = people()
    result = audit(X, y, np.arange(120))
    assert result.text == (
        "every row is alone in its group, so that the release shows each label beside its own row; "
        "nothing is hidden"
    )
    assert (result.n_open, result.level) == (120, "unsafe")
    assert levels(result) == ["unsafe", "unsafe", "safe"]
    assert result.rows.at_risk.all()


def test_without_groups_guessing_is_among_all_rows():
    rng = np.random.default_rng(1)
    result = audit(rng.normal(size=(120, 2)), rng.normal(size=120), None)
    assert "guessing among all rows" in result.text
    assert "inside groups" not in result.text + "".join(r.text for r in result.reasons)
    assert result.level == "safe"
    assert not result.rows.at_risk.any()


def test_groups_of_one_label_each_hide_nothing():
    X, _ = people()
    groups = np.arange(120) // 6
    result = audit(X, groups.astype(float), groups)
    assert "all rows of each group have the same label" in result.text
    assert (result.n_open, result.level) == (120, "unsafe")
    assert all(zone.is_open for zone in result.zones)


def test_one_row_alone_is_a_risk_of_its_own():
    rng = np.random.default_rng(2)
    groups = np.append(np.arange(119) // 17, 99)
    result = audit(rng.normal(size=(120, 2)), rng.normal(size=120), groups)
    assert (result.n_alone, result.n_open) == (1, 1)
    assert levels(result)[1] == "at risk"
    assert result.level == "at risk"
    assert result.text.endswith("; 1 row is hidden by no shuffle")
    assert np.flatnonzero(result.rows.at_risk).tolist() == [119]
    alone = [zone for zone in result.zones if zone.is_open]
    assert [(zone.name, zone.n_rows, zone.exposed) for zone in alone] == [("99", 1, 1.0)]


def test_labels_that_can_be_predicted_are_unsafe():
    X, y = people()
    result = audit(X, y, np.repeat([f"v{k}" for k in range(20)], 6))
    assert result.level == "unsafe"
    assert levels(result) == ["unsafe", "safe", "unsafe"]
    assert result.exposed.value > 0.8
    assert [zone.name for zone in result.zones] == [f"v{k}" for k in range(20)]
    assert sum(zone.n_rows for zone in result.zones) == 120


@pytest.mark.parametrize("n_categories", [2, 3])
def test_secrets_of_categories(n_categories):
    X, y = people(noise=0.01)
    order = np.argsort(np.argsort(y)) * n_categories // 120
    secret = np.array(["healthy", "ill", "unknown"])[order]
    groups = np.arange(120) // 6
    found = audit(X, secret, groups)
    assert found.categories == tuple(np.unique(secret))
    assert found.found.value > 0.85
    assert found.found.value == found.near.value
    most = [max(np.unique(secret[groups == k], return_counts=True)[1]) for k in range(20)]
    assert found.found_by_guessing.value == pytest.approx(sum(most) / 120)
    assert found.level == "unsafe"
    unrelated = audit(X, np.random.default_rng(0).permutation(secret), groups)
    assert levels(unrelated)[2] == "safe"
    assert unrelated.found.value < found.found.value - 0.2


def test_what_most_rows_have_exposes_nobody():
    """Nine in ten are healthy: naming it needs no attack. The others may be exposed."""
    X, y = people()
    secret = np.where(np.argsort(np.argsort(y)) >= 108, "ill", "healthy")
    result = audit(X, secret, np.arange(120) // 6)
    exposed = result.rows.exposed > 0
    assert exposed.any()
    assert (secret[exposed] == "ill").all()
    assert result.exposed.value <= 0.1


def test_numbers_are_no_categories():
    assert category_codes([1.0, 2.0])[1] == ()
    codes, names = category_codes(np.array(["b", "a", "b"], dtype=object))
    assert codes.tolist() == [1.0, 0.0, 1.0]
    assert names == ("a", "b")
    with pytest.raises(ValueError, match="30 different names"):
        category_codes([f"n{k}" for k in range(30)])


def test_rows_and_zones_by_hand():
    rows = [np.array([0, 1]), np.array([1, 2])]
    found = [np.array([1.0, 0.0]), np.array([1.0, 1.0])]
    exposed = [np.array([1.0, 0.0]), np.array([1.0, 0.0])]
    sure = [np.array([0.9, 0.5]), np.array([0.8, 0.3])]
    risks = row_risks(4, rows, found, exposed, sure)
    assert risks.followed.tolist() == [1, 2, 1, 0]
    np.testing.assert_array_equal(risks.found, [1.0, 0.5, 1.0, np.nan])
    np.testing.assert_array_equal(risks.exposed, [1.0, 0.5, 0.0, np.nan])
    assert risks.at_risk.tolist() == [True, True, False, False]
    names = np.array(["u", "v"], dtype=object)
    guessed, is_open = np.array([0.5, 0.5, 0.5, 0.5]), np.array([False, False, True, True])
    u, v = zone_risks(names, np.array([0, 0, 1, 1]), risks, guessed, is_open)
    assert (u.name, u.n_rows, u.found, u.exposed, u.is_open) == ("u", 2, 2 / 3, 2 / 3, False)
    assert (v.name, v.found, v.exposed, v.is_open) == ("v", 1.0, 0.0, True)
