"""Beside which rows the own labels of suspects stand."""

import numpy as np
import pandas as pd
import pytest

from unshuffle import MixtureRegressor, ShuffledClassifier, ShuffledCoxRegressor, ShuffledRegressor
from unshuffle.families.catalogue import FAMILIES
from unshuffle.kernels.partners import likely_labels


def linked(name, n=300, rate=0.2, precision=4.0, groups=None, seed=0):
    """Rows, labels of which a share moved (inside groups), and where each row's own label is."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = FAMILIES[name].simulate(0.5 + X @ [0.8, -0.5], precision, rng)
    groups = np.zeros(n, dtype=int) if groups is None else groups
    order = np.arange(n)
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        moved = rng.choice(members, round(rate * len(members)), replace=False)
        order[moved] = np.roll(moved, 1)
    return X, y[order], np.argsort(order)


def by_hand(name, model, y, redrawn, groups=None):
    """Probability that the label beside row j came from row i, row i in line i."""
    family, fit = FAMILIES[name], model._found
    n = len(y)
    groups = np.zeros(n) if groups is None else groups
    density = np.array(
        [np.exp(family.log_density(y, np.full(n, eta), fit.precision))
         for eta in fit.linear_predictor]
    )  # fmt: skip
    same = groups[:, None] == groups
    size = same.sum(axis=0)
    of_any = redrawn * (density * same).sum(axis=0) / size
    return redrawn * density * same / size / ((1 - redrawn) * np.diag(density) + of_any)


@pytest.mark.parametrize("name", ["normal", "bernoulli", "poisson", "gamma", "negative-binomial"])
@pytest.mark.parametrize("n_groups", [1, 4])
def test_probabilities_equal_those_by_hand(name, n_groups):
    groups = np.arange(60) % n_groups
    X, y, _ = linked(name, 60, groups=groups)
    rate = 0.2
    more = {"pairing": "mostly-right", "mismatch_rate": rate}
    model = (
        ShuffledClassifier(**more)
        if name == "bernoulli"
        else ShuffledRegressor(family=name, random_state=0, **more)
    )
    beside = {"offset": np.zeros(60)} if name == "normal" else {}
    model.fit(X, y, groups=groups, **beside)
    redrawn = rate / (1 - 1 / (60 / n_groups))
    pairs = by_hand(name, model, y, redrawn, groups)
    np.fill_diagonal(pairs, 0.0)
    truth = (1 - model.match_proba_)[:, None] * pairs / pairs.sum(axis=1, keepdims=True)
    table = model.suspects(1.0, n_partners=2)
    rows = table["row"].to_numpy()
    np.testing.assert_allclose(table["partner_1_proba"], truth[rows].max(axis=1), rtol=1e-6)
    first, second = table["partner_1"].to_numpy(), table["partner_2"].to_numpy()
    np.testing.assert_allclose(truth[rows, first], table["partner_1_proba"], rtol=1e-6)
    np.testing.assert_allclose(truth[rows, second], table["partner_2_proba"], rtol=1e-6)
    assert np.all(groups[first] == groups[rows])
    # The control: another rate of redrawn labels.
    other = by_hand(name, model, y, 0.9, groups)
    np.fill_diagonal(other, 0.0)
    other = (1 - model.match_proba_)[:, None] * other / other.sum(axis=1, keepdims=True)
    assert np.abs(other[rows, first] / table["partner_1_proba"] - 1).max() > 1e-3


def test_precise_labels_name_the_right_partner():
    X, y, holder = linked("gamma", precision=10_000.0)
    model = MixtureRegressor(family="gamma").fit(pd.DataFrame(X, columns=["a", "b"]), y)
    names = np.array([f"row {i}" for i in range(300)])
    table = model.suspects(id=names)
    wrong = holder != np.arange(300)
    listed = table[wrong[table["row"]]]
    assert len(listed) > 40
    right = listed["partner_1"].to_numpy() == holder[listed["row"]]
    assert right.mean() > 0.5  # one in 300 by guessing
    assert (listed["partner_1_id"] == names[listed["partner_1"]]).all()
    sure = listed["partner_1_proba"].to_numpy() > 0.7
    assert right[sure].mean() > 0.8


def test_times_and_rows_without_weight():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    time = rng.exponential(np.exp(-X @ [2.0, -1.0]))
    y = np.column_stack([time < 3.0, np.minimum(time, 3.0)])
    y[:60] = y[np.roll(np.arange(60), 1)]
    weights = np.ones(300)
    weights[100:110] = 0.0
    model = ShuffledCoxRegressor(pairing="mostly-right").fit(X, y, sample_weight=weights)
    table = model.suspects(0.7, n_partners=5)
    partners = table[[f"partner_{k}" for k in range(1, 6)]].to_numpy()
    assert not np.isin(partners, np.arange(100, 110)).any()
    probas = table[[f"partner_{k}_proba" for k in range(1, 6)]].to_numpy()
    assert np.all(np.diff(probas, axis=1) <= 0.0)
    assert np.all(probas.sum(axis=1) <= 1.0 - table["match_proba"] + 1e-9)
    assert "partner_1" not in model.suspects(n_partners=0)
    with pytest.raises(ValueError, match="one name per row"):
        model.suspects(id=["a"])


def test_labels_that_cannot_have_moved_have_no_partners():
    X, y, _ = linked("poisson", 80)
    known = np.arange(80) >= 3
    given = np.full(80, 0.6)
    model = ShuffledRegressor(family="poisson").fit(X, y, known=known, match_prob=given)
    table = model.suspects(1.0, n_partners=4)
    assert set(table["row"]) == {0, 1, 2}
    assert np.all(table["partner_3"] == -1)
    assert table["partner_3_proba"].isna().all()


def test_the_kernel_keeps_the_largest_and_ignores_excluded_labels():
    rng = np.random.default_rng(0)
    n = 12
    a, u, v, level = rng.normal(size=n), rng.normal(size=(n, 2)), rng.normal(size=(n, 2)), None
    level = rng.normal(size=n)
    level[3] = -np.inf
    rows = np.arange(4)
    found, share = np.empty((4, 20), dtype=np.int64), np.empty((4, 20))
    first, last = np.zeros(4, dtype=np.int64), np.full(4, n)
    likely_labels(rows, first, last, a, u, v, level, found, share)
    for i in rows:
        weights = np.exp(a[i] + v @ u[i] + level)
        weights[i] = 0.0
        best = np.argsort(-weights)
        n_found = int((weights > 0).sum())
        assert np.array_equal(found[i, :n_found], best[:n_found])
        np.testing.assert_allclose(
            share[i, :n_found], np.sort(weights / weights.sum())[::-1][:n_found]
        )
        assert np.all(found[i, n_found:] == -1)
