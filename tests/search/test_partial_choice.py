"""Which match a fit to unequal counts starts from, and whether it would be found again."""

import numpy as np
import pytest
from scipy.stats import norm

from unshuffle import ShuffledRegressor
from unshuffle.alignment.bethe import align_by_messages
from unshuffle.alignment.partial import PartialChain
from unshuffle.data.threads import Workers
from unshuffle.data.unequal import make_unequal_problem
from unshuffle.em.partial import PartialTable
from unshuffle.exceptions import UnidentifiableWarning
from unshuffle.families.least_squares import LeastSquares
from unshuffle.search.partial import STARTS
from unshuffle.search.partial_choice import most_likely_first
from unshuffle.search.partial_landscape import PartialLandscape
from unshuffle.search.partial_recovery import simulate_labels
from unshuffle.search.population import search_population


def one_group(seed, n_rows, n_labels, noise):
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(n_labels, 3)), rng.normal(size=3)
    y = rng.permutation(X @ w + noise * rng.normal(size=n_labels))
    return X[:n_rows], y, w


def landscape_of(X, y, workers, *, fit_intercept=False):
    problem = make_unequal_problem(X, y, np.zeros(len(X), int), np.zeros(len(y), int))
    return PartialLandscape(problem, LeastSquares(problem.X, fit_intercept=fit_intercept), workers)


@pytest.mark.parametrize("seed", [1, 13])
def test_the_optimum_with_most_posterior_mass_is_the_right_one(seed):
    """Sets in which a wrong match has the larger likelihood."""
    X, y, w = one_group(seed, 80, 100, 0.05)
    with Workers(1) as workers:
        landscape = landscape_of(X, y, workers)
        found = search_population(landscape, n_candidates=4000, seed=seed, starts=STARTS)
        truth = np.linalg.lstsq(landscape.Z, X @ w, rcond=None)[0]
        likely = [landscape.log_likelihood(theta) for theta in found.thetas]
        best_match = found.thetas[int(np.argmax(likely))]
        search, followed = most_likely_first(landscape, found)
    length = np.linalg.norm(truth)
    assert np.linalg.norm(best_match - truth) > 0.2 * length  # what was chosen by one matching
    assert np.linalg.norm(search.thetas[0] - truth) < 0.1 * length
    assert np.linalg.norm(followed.theta - truth) < 0.1 * length
    assert followed.noise_scale == pytest.approx(0.05, rel=0.6)
    assert sorted(search.objectives) == sorted(found.objectives)


def test_messages_expect_what_the_chain_samples():
    X, y, w = one_group(0, 12, 15, 0.3)
    with Workers(1) as workers:
        landscape = landscape_of(X, y, workers)
        problem = landscape.problem
        table = PartialTable(problem, landscape.solver, (0.0, 1.0))
        theta = np.linalg.lstsq(landscape.Z, X @ w, rcond=None)[0]
        state = table.start(theta, 0.3, 0.8, np.full(problem.n_rows, -1))
        sampled = PartialChain(problem, 0, workers, 20_000, 100)(state, 0)
        expected = align_by_messages(problem, state).expected
    np.testing.assert_allclose(expected.holds, sampled.holds, atol=0.06)
    np.testing.assert_allclose(expected.is_held, sampled.is_held, atol=0.06)
    assert expected.squares == pytest.approx(sampled.squares, rel=0.03)


def test_simulated_labels_have_the_counts_and_the_law_of_the_fit():
    rng = np.random.default_rng(0)
    rows, labels = np.repeat([0, 1, 2], [4, 6, 5]), np.repeat([0, 1, 2], [6, 3, 5])
    X, y = rng.normal(size=(15, 1)), rng.normal(size=14)
    problem = make_unequal_problem(X, y, rows, labels, np.array([14]), np.array([13]))
    fitted, pairs = 100.0 * np.arange(15.0), np.array([4, 3, 2])
    drawn = simulate_labels(problem, fitted, 1e-3, pairs, rng)
    assert len(drawn) == problem.n_labels
    for first, last in zip(problem.label_starts[:-1], problem.label_starts[1:], strict=True):
        assert np.all(np.diff(drawn[first:last]) >= 0.0)
    nearest = np.abs(drawn[:, None] - fitted[None]).min(axis=1) < 0.01
    # Labels of nobody lie around the rows of their group; the others at a row of it.
    assert [nearest[:6].sum(), nearest[6:9].sum(), nearest[9:13].sum()] == [4, 3, 2]
    assert drawn[-1] == pytest.approx(fitted[-1], abs=0.01)


def test_the_verdict_says_whether_the_fit_would_be_found_again():
    X, y, _ = one_group(2, 80, 100, 0.01)
    sharp = ShuffledRegressor(fit_intercept=False, random_state=0)
    sharp.fit_unpaired(X, y, unmatched="model")
    reason = next(r for r in sharp.verdict_.reasons if r.check == "recoverability")
    assert (reason.level, reason.threshold) == ("trust", 0.3)
    assert len(sharp.refit_distances_) == 9
    assert reason.value == np.sort(sharp.refit_distances_)[-2] < 0.02


def test_a_slope_whose_sign_is_lost_is_not_found_again():
    """Labels of one symmetric feature look alike for both signs of its slope."""
    rng = np.random.default_rng(2)
    x = norm.ppf((rng.permutation(50) + 0.5) / 50)
    y = 1.0 + 2.0 * x + 0.5 * rng.normal(size=50)
    vague = ShuffledRegressor(random_state=0)
    with pytest.warns(UnidentifiableWarning, match="do not trust"):
        vague.fit_unpaired(x[:45, None], np.sort(y), unmatched="model")
    reason = next(r for r in vague.verdict_.reasons if r.check == "recoverability")
    assert reason.level == "reject"
    assert "Refitting data simulated from this fit" in reason.text
