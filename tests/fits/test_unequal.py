"""Fits to rows without labels and labels without rows."""

import numpy as np
import pytest

from unshuffle import MixtureRegressor, ShuffledRegressor
from unshuffle.data.threads import Workers
from unshuffle.data.unequal import make_unequal_problem
from unshuffle.fits.unequal import fit_unequal
from unshuffle.fits.unequal_em import UnequalSettings


def one_group(seed, n_rows, n_labels, noise=0.01):
    """Fully lost: some rows, or some labels, are missing."""
    rng = np.random.default_rng(seed)
    n = max(n_rows, n_labels)
    X, w = rng.normal(size=(n, 3)), rng.normal(size=3)
    y = rng.permutation(X @ w + noise * rng.normal(size=n))
    return X[:n_rows], rng.permutation(y)[:n_labels], w


def groups_of(size, seed, *, n=300, noise=0.1, removed=0.1):
    """Both sides of groups with some rows and labels removed; the truth and who has a label."""
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(n, 3)), np.array([1.0, -2.0, 0.5])
    y, groups = 3.0 + X @ w + noise * rng.normal(size=n), np.arange(n) // size
    rows, labels = rng.random((2, n)) >= removed
    order = rng.permutation(np.flatnonzero(labels))
    return X[rows], y[order], groups[rows], groups[order], w, labels[rows]


def relative_error(coef, w):
    return np.linalg.norm(coef - w) / np.linalg.norm(w)


@pytest.mark.parametrize(
    ("seed", "n_rows", "n_labels", "limit"),
    [(2, 80, 100, 0.0041), (0, 50, 100, 0.0124), (2, 100, 50, 0.0124)],
)
def test_missing_rows_or_labels_of_one_group(seed, n_rows, n_labels, limit):
    X, y, w = one_group(seed, n_rows, n_labels)
    model = ShuffledRegressor(fit_intercept=False, random_state=0)
    model.fit_unpaired(X, y, unmatched="model")
    assert relative_error(model.coef_, w) < limit
    assert model.verdict_.level == "trust"
    assert model.match_share_ == pytest.approx(min(n_labels / n_rows, 1.0), abs=0.02)
    # The control: rows beside labels in any order.
    beside = np.linalg.lstsq(X[: len(y)], y[: len(X)][: len(X[: len(y)])], rcond=None)[0]
    assert relative_error(beside, w) > 10 * limit


@pytest.fixture(scope="module")
def grouped():
    X, y, rows, labels, w, has_label = groups_of(10, 0)
    model = ShuffledRegressor(random_state=0)
    model.fit_unpaired(X, y, rows, labels, unmatched="model")
    return model, X, y, rows, labels, w, has_label


def test_groups_with_rows_and_labels_removed(grouped):
    model, _, y, rows, labels, w, has_label = grouped
    assert np.abs((model.coef_ - w) / model.standard_errors_[1:]).max() < 4.0
    assert model.verdict_.level == "trust"
    assert abs(model.match_share_ - has_label.mean()) < 4.0 * model.match_share_se_
    assert 0.0 < model.match_share_se_ < 0.1
    assert model.n_pairs_ == pytest.approx(has_label.sum(), abs=15)
    assert has_label[model.unmatched_rows_].mean() < 0.4  # of the others 10 % have none
    held = model.permutation_ >= 0
    assert np.all(labels[model.permutation_[held]] == rows[held])
    assert len(set(model.permutation_[held])) == held.sum()
    assert model.n_labels_ == len(y)


def test_the_summary_counts_both_sides(grouped):
    model, X, y = grouped[:3]
    text = str(model.summary())
    assert f"rows: {len(X)}" in text
    assert f"labels: {len(y)}" in text
    assert "match share: " in text
    assert f"{len(model.unmatched_rows_)} rows look as if" in text


def test_partners_include_nobody(grouped):
    model, _, _, rows, labels = grouped[:5]
    of_rows, of_labels, share = model.partner_probabilities(3)
    table = share.toarray()
    np.testing.assert_allclose(table.sum(axis=1), 1.0)
    assert table[:, :-1].sum(axis=0).max() <= 1.0 + 1e-9
    assert set(rows[of_rows]) == set(labels[of_labels]) == {rows[of_rows][0]}
    np.testing.assert_allclose(table[:, -1], model.unmatched_rows_proba_[of_rows], atol=0.15)
    with pytest.raises(ValueError, match="group must be a number"):
        model.partner_probabilities(1000)


def test_repair_leaves_rows_of_nobody_empty(grouped):
    model, _, y = grouped[:3]
    repaired = model.repair(y)
    np.testing.assert_array_equal(np.isnan(repaired), model.permutation_ < 0)
    names = model.repair(np.array([f"label {k}" for k in range(len(y))]))
    assert names[np.argmin(model.permutation_)] is None


def test_what_needs_a_permutation_says_so(grouped):
    model = grouped[0]
    with pytest.raises(AttributeError, match="partner_probabilities"):
        model.suspects()
    with pytest.raises(ValueError, match="conf_int"):
        model.posterior()
    assert not hasattr(model, "row_groups_")


def test_equal_counts_and_share_one_give_the_same_bits():
    X, y, rows, labels = groups_of(10, 1, n=120, removed=0.0)[:4]
    plain = ShuffledRegressor(random_state=0).fit_unpaired(X, y, rows, labels)
    share = ShuffledRegressor(random_state=0).fit_unpaired(
        X, y, rows, labels, unmatched="model", match_share=1.0
    )
    assert plain.coef_.tobytes() == share.coef_.tobytes()
    assert plain.standard_errors_.tobytes() == share.standard_errors_.tobytes()
    assert not hasattr(share, "match_share_")


def test_units_and_threads_change_nothing():
    X, y, rows, labels = groups_of(10, 2, n=120)[:4]
    problem = make_unequal_problem(X, y, rows, labels)
    other = make_unequal_problem(X * 8.0, y / 4.0 + 64.0, rows, labels)
    settings = UnequalSettings(0, n_candidates=100)
    with Workers(1) as one, Workers(2) as two:
        plain = fit_unequal(problem, one, settings)
        threaded = fit_unequal(problem, two, settings)
        scaled = fit_unequal(other, one, settings)
    assert plain.fit.coef.tobytes() == threaded.fit.coef.tobytes()
    np.testing.assert_allclose(scaled.fit.coef * 32.0, plain.fit.coef, rtol=1e-3)


def test_labels_unrelated_to_the_rows_are_not_trusted():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=80)
    with pytest.warns(UserWarning, match="do not trust this fit"):
        model = ShuffledRegressor(n_candidates=500, random_state=0)
        model.fit_unpaired(X, y, unmatched="model")
    assert model.verdict_.level == "reject"


def test_strangers_in_a_table_that_is_mostly_right():
    rng = np.random.default_rng(3)
    X, w = rng.normal(size=(400, 4)), rng.normal(size=4)
    y = 1.0 + X @ w + 0.3 * rng.normal(size=400)
    strange = rng.random(400) < 0.1
    y = np.where(strange, 1.0 + 10.0 * rng.normal(size=400), y)
    model = ShuffledRegressor(random_state=0).fit(X, y, unmatched="model")
    assert model.pairing_ == "mostly-right"
    mixture = MixtureRegressor().fit(X, y)
    assert relative_error(model.coef_, w) < 1.1 * relative_error(mixture.coef_, w) + 1e-3
    assert strange[model.unmatched_labels_].mean() > 0.85
    assert strange[model.unmatched_labels_].sum() > 0.8 * strange.sum()
    assert np.abs((model.coef_ - w) / model.standard_errors_[1:]).max() < 4.0
    # The control: least squares follows the strangers.
    as_given = model.summary().as_given
    assert relative_error(as_given.values[1:], w) > 3 * relative_error(model.coef_, w)


def test_missing_labels_beside_rows():
    X, y, groups, label_groups, w, _ = groups_of(10, 4, removed=0.0)
    beside = y[np.argsort(label_groups, kind="stable")]  # in the right group, at a random place
    lost = np.where(np.random.default_rng(4).random(300) < 0.1, np.nan, beside)
    model = ShuffledRegressor(random_state=0).fit(X, lost, groups, unmatched="model")
    assert model.pairing_ == "lost"
    assert model.n_labels_ == np.isfinite(lost).sum()
    assert relative_error(model.coef_, w) < 0.05
    held = model.permutation_ >= 0
    assert np.isfinite(lost[model.permutation_[held]]).all()
    assert np.isnan(model.unmatched_labels_proba_[np.isnan(lost)]).all()


def test_missing_labels_with_known_rows_and_an_order_that_is_right():
    X, y, groups, label_groups, w, _ = groups_of(10, 5, removed=0.0)
    lost = y[np.argsort(label_groups, kind="stable")]
    known = np.arange(300) < 40
    lost[known] = 3.0 + X[known] @ w
    lost[::11] = np.nan
    model = ShuffledRegressor(random_state=0).fit(X, lost, groups, known, unmatched="model")
    assert model.pairing_ == "lost"
    pinned = np.flatnonzero(known & np.isfinite(lost))
    np.testing.assert_array_equal(model.permutation_[pinned], pinned)
    assert relative_error(model.coef_, w) < 0.05
    given = np.where(np.isnan(lost), np.nan, 3.0 + X @ w + 0.01 * np.arange(300) % 0.1)
    model.fit(X, given, groups, unmatched="model")
    assert model.pairing_ == "mostly-right"
    assert model.match_share_ <= np.isfinite(given).mean() + 1e-9
    assert relative_error(model.coef_, w) < 0.05


def test_a_given_share_stays_as_it_is():
    X, y, rows, labels = groups_of(10, 6, n=120)[:4]
    model = ShuffledRegressor(n_candidates=100, random_state=0)
    model.fit_unpaired(X, y, rows, labels, unmatched="model", match_share=0.8)
    assert model.match_share_ == pytest.approx(0.8)
    assert np.isnan(model.match_share_se_)
    assert "80.0%, given" in str(model.summary())
    model.fit_unpaired(X, y, rows, labels, unmatched="model", match_share=(0.1, 0.7))
    assert model.match_share_ == pytest.approx(0.7, abs=0.01)
