"""Sandwich and partners where the order is lost inside groups, against enumeration."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from scipy.special import logsumexp

from unshuffle import ShuffledClassifier, ShuffledRegressor
from unshuffle.data.problem import make_problem
from unshuffle.data.threads import Workers
from unshuffle.families.catalogue import FAMILIES
from unshuffle.fits.glm.covariance import sandwich
from unshuffle.fits.glm.data import arrange_data
from unshuffle.fits.glm.lost_chain import fit_by_chain
from unshuffle.fits.glm.lost_model import LostBernoulli
from unshuffle.fits.glm.lost_robust import group_scores

LABELS = ["normal", "poisson", "gamma", "negative-binomial"]


def grouped(name, n_groups=30, size=4, precision=4.0, seed=0, wild=0.0):
    """Labels shuffled inside groups; `wild` is the spread of linear predictors of groups."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    X = rng.normal(size=(len(groups), 2)) + rng.normal(size=(n_groups, 2))[groups]
    eta = 0.3 + X @ [0.7, -0.4] + wild * rng.normal(size=n_groups)[groups]
    y = FAMILIES[name].simulate(eta, precision, rng)
    order = np.lexsort([rng.random(len(groups)), groups])
    return X, y[order], groups


def log_likelihoods(data, family, parameters):
    """Log-likelihood of each group, summed over all permutations; pinned rows are groups."""
    q, starts = data.Z.shape[1], data.problem.starts
    precision = float(np.exp(parameters[q])) if family.has_precision else 1.0
    eta = data.offset + data.Z @ parameters[:q]
    found = []
    for first, last in pairwise(starts):
        orders = np.array(list(permutations(range(first, last))))
        logs = [family.log_density(data.y[order], eta[first:last], precision).sum()
                for order in orders]  # fmt: skip
        found.append(logsumexp(logs))
    n = data.n_movable
    return np.append(found, family.log_density(data.y[n:], eta[n:], precision))


@pytest.mark.parametrize("name", LABELS)
def test_scores_of_groups_are_derivatives_of_their_likelihood(name):
    X, y, groups = grouped(name, 20, 3)
    known = np.arange(60) >= 54
    data = arrange_data(make_problem(X, y, groups, known), fit_intercept=True)
    family = FAMILIES[name]
    found = fit_by_chain(data, family, np.array([0.3, 0.6, -0.3]), 3.0, 0, Workers(1))
    scores = group_scores(data, family, found)
    at = found.theta
    if family.has_precision:
        at = np.append(at, np.log(found.precision))
    assert scores.shape == (18 + 6, len(at))
    for k in range(len(at)):
        shift = np.zeros(len(at))
        shift[k] = 1e-5
        above, below = (log_likelihoods(data, family, at + sign * shift) for sign in (1, -1))
        slope = (above - below) / 2e-5
        size = np.sqrt(np.mean(slope**2))
        np.testing.assert_allclose(scores[:, k], slope, atol=0.15 * size)
        assert np.abs(scores[:, k] - 1.5 * slope).max() > 0.15 * size  # the control


def test_yes_no_scores_are_exact():
    X, y, groups = grouped("bernoulli", 40, 4)
    model = ShuffledClassifier(pairing="lost").fit(X, y, groups=groups)
    data, fit = model._family_data, model._found
    exact = LostBernoulli(data)
    theta = np.linalg.solve(data.design.to_natural, fit.values)
    np.testing.assert_allclose(exact.evaluate(theta).gradient, 0.0, atol=1e-5)
    scores = []
    for k in range(3):
        shift = np.zeros(3)
        shift[k] = 1e-5
        above, below = (
            log_likelihoods(data, FAMILIES["bernoulli"], theta + sign * shift) for sign in (1, -1)
        )
        scores.append((above - below) / 2e-5)
    inverse = np.linalg.inv(data.design.to_natural)
    bread = inverse @ fit.covariance @ inverse.T
    by_hand = data.design.covariance(sandwich(bread, np.array(scores).T, 3))
    np.testing.assert_allclose(model.covariance("sandwich"), by_hand, rtol=1e-4)
    assert not np.allclose(model.covariance_, by_hand, rtol=1e-2)  # the control


def test_groups_that_vary_more_than_the_family_has_it():
    X, y, groups = grouped("poisson", 200, 4, wild=0.8)
    model = ShuffledRegressor(family="poisson", pairing="lost", random_state=0)
    model.fit(X, y, groups=groups)
    wide = np.diff(model.conf_int(method="sandwich")).ravel()
    assert np.all(wide > 1.3 * np.diff(model.conf_int()).ravel())
    assert "robust (as asked)" in str(model.summary(covariance="robust"))
    X, y, groups = grouped("poisson", 200, 4, seed=1)  # the control: nothing more
    plain = ShuffledRegressor(family="poisson", pairing="lost", random_state=0)
    plain.fit(X, y, groups=groups)
    ratio = np.diff(plain.conf_int(method="sandwich")) / np.diff(plain.conf_int())
    assert np.all(np.abs(np.log(ratio)) < 0.25)


def test_too_few_groups_have_no_sandwich():
    X, y, groups = grouped("poisson", 11, 8)
    model = ShuffledRegressor(family="poisson", pairing="lost", random_state=0)
    model.fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="has no sandwich: the order is lost inside 11 groups"):
        model.conf_int(method="sandwich")


def held_by_hand(name, model, y, groups):
    """Probability that row i holds the label given beside row j, over all permutations."""
    family, fit = FAMILIES[name], model._found
    proba = np.zeros((len(y), len(y)))
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        orders = np.array(list(permutations(members)))
        eta = fit.linear_predictor[members]
        logs = [family.log_density(y[order], eta, fit.precision).sum() for order in orders]
        weights = np.exp(logs - logsumexp(logs))
        for order, weight in zip(orders, weights, strict=True):
            proba[members, order] += weight
    return proba


@pytest.mark.parametrize("name", ["poisson", "gamma"])
def test_partners_are_those_of_all_permutations(name):
    X, y, groups = grouped(name)
    model = ShuffledRegressor(family=name, pairing="lost", random_state=0)
    model.fit(X, y, groups=groups)
    table = model.suspects(1.0, n_partners=3)
    proba = held_by_hand(name, model, y, groups)
    rows = table["row"].to_numpy()
    for k in (1, 2, 3):
        partner = table[f"partner_{k}"].to_numpy()
        named = partner >= 0
        assert np.all(groups[partner[named]] == groups[rows[named]])
        assert np.all(partner[named] != rows[named])
        found = table[f"partner_{k}_proba"].to_numpy()[named]
        truth = proba[rows[named], partner[named]]
        assert np.sqrt(np.mean((found - truth) ** 2)) < 0.05
        if k == 1:
            assert np.sqrt(np.mean((found - np.roll(truth, 1)) ** 2)) > 0.1  # the control
    again = model.suspects(1.0, n_partners=3)
    assert again.equals(table)  # one seed, one answer


def test_partners_of_yes_no_labels_hold_the_other_label():
    X, y, groups = grouped("bernoulli", 40, 5)
    names = np.where(y == 1.0, "yes", "no")
    model = ShuffledClassifier(pairing="lost").fit(X, names, groups=groups)
    table = model.suspects(1.0, n_partners=5)
    proba = held_by_hand("bernoulli", model, y, groups)
    rows = table["row"].to_numpy()
    for k in range(1, 6):
        partner = table[f"partner_{k}"].to_numpy()
        named = partner >= 0
        assert np.all(y[partner[named]] != y[rows[named]])
        np.testing.assert_allclose(
            table[f"partner_{k}_proba"][named], proba[rows[named], partner[named]], rtol=1e-6
        )
    total = np.nansum(table[[f"partner_{k}_proba" for k in range(1, 6)]].to_numpy(), axis=1)
    np.testing.assert_allclose(total, 1.0 - table["match_proba"], atol=1e-9)


@pytest.mark.filterwarnings("ignore::unshuffle.exceptions.UnidentifiableWarning")
def test_pinned_rows_and_fits_that_nothing_holds_have_no_partners():
    X, y, groups = grouped("poisson")
    model = ShuffledRegressor(family="poisson", pairing="lost", random_state=0)
    model.fit(X, y, groups=groups, known=np.arange(120) >= 60)
    assert model.suspects(1.0)["row"].max() < 60
    alone = ShuffledRegressor(family="poisson", pairing="lost", random_state=0).fit(X, y)
    assert alone.verdict_.level == "reject"
    assert np.all(alone.suspects(1.0)["partner_1"] == -1)
    assert "partner_1" not in model.suspects(n_partners=0)
