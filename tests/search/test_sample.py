"""A sample of a large table must lead to the same match as the table."""

from itertools import pairwise

import numpy as np
import pytest

from unshuffle.data.problem import make_problem
from unshuffle.data.threads import Workers
from unshuffle.datasets import make_shuffled_regression
from unshuffle.families.least_squares import LeastSquares
from unshuffle.fits.auto import fit_auto
from unshuffle.fits.data import InMemory
from unshuffle.fits.settings import AutoSettings
from unshuffle.search.landscape import Landscape
from unshuffle.search.population import search_population
from unshuffle.search.sample import rows_to_search, sample_of, thin_groups
from unshuffle.search.settings import DescentSettings, PopulationSettings, SearchSettings


def problem_of(n_rows, n_groups, n_known=0, seed=0):
    data = make_shuffled_regression(
        n_rows, 3, noise=0.3, shuffle="groups", n_groups=n_groups, random_state=seed
    )
    rng = np.random.default_rng(seed)
    mixed = rng.permutation(n_rows)  # so that arranged and given order differ
    known = rng.permutation(n_rows) < n_known
    return data, make_problem(data.X[mixed], data.y[mixed], data.groups[mixed], known)


def test_a_small_table_is_searched_as_it_is():
    _, problem = problem_of(1_000, 10)
    assert sample_of(problem, 501) is problem
    assert sample_of(problem, 500) is not problem


def test_whole_groups_are_taken_where_there_are_many():
    _, problem = problem_of(4_000, 1_000, n_known=400)
    sample = sample_of(problem, 400)
    assert 350 <= sample.n_rows <= 450
    whole = {tuple(np.sort(problem.y[a:b])) for a, b in pairwise(problem.starts)}
    for a, b in pairwise(sample.starts):
        assert tuple(np.sort(sample.y[a:b])) in whole


def test_few_large_groups_are_thinned_inside():
    _, problem = problem_of(6_000, 3, n_known=600)
    sample = sample_of(problem, 600)
    assert sample.n_blocks == 3
    assert 550 <= sample.n_rows <= 660
    # The mean of evenly spaced ranks is closer than that of a random sample (sd / sqrt(n)).
    for g in range(3):
        own = problem.y[problem.starts[g] : problem.starts[g + 1]]
        kept = sample.y[sample.starts[g] : sample.starts[g + 1]]
        assert abs(kept.mean() - own.mean()) < 0.2 * own.std() / len(kept) ** 0.5


def test_pinned_rows_keep_their_label():
    data, problem = problem_of(6_000, 3, n_known=600)
    sample = thin_groups(problem, 10)
    given = {tuple(row): label for row, label in zip(data.X, data.y, strict=True)}
    pinned = range(sample.n_movable, sample.n_rows)
    assert len(pinned) == 60
    assert all(given[tuple(sample.X[i])] == sample.y[i] for i in pinned)


def test_a_tiny_group_keeps_two_rows():
    _, problem = problem_of(6_000, 3)
    starts = np.array([0, 2, 2_000, 6_000], dtype=np.int64)
    problem = make_problem(
        problem.X, problem.y, np.repeat([0, 1, 2], np.diff(starts)), problem.y > 9e9
    )
    assert list(np.diff(thin_groups(problem, 100).starts)) == [2, 19, 40]


@pytest.mark.parametrize("n_groups", [2, 500])
def test_the_best_match_of_a_sample_is_that_of_the_table(n_groups):
    _, problem = problem_of(8_000, n_groups)

    def best(problem):
        solver = LeastSquares(problem.X, fit_intercept=True)
        landscape = Landscape(problem, solver, Workers(1))
        found = search_population(landscape, n_candidates=200, seed=0)
        return landscape.state(found.thetas[0]).coef

    whole, sample = best(problem), best(sample_of(problem, 2_000))
    # The sample of rows and that of labels differ by chance: some spread of the labels / sqrt(n).
    assert np.linalg.norm(whole - sample) < 3 * problem.label_spread * (3 / 2_000) ** 0.5
    assert np.linalg.norm(whole + sample) > problem.label_spread  # the other sign does not pass


def test_a_large_table_claims_no_proof_and_ends_at_the_truth():
    data = make_shuffled_regression(
        4_000, 2, noise=0.3, shuffle="groups", n_groups=40, random_state=1
    )
    problem = make_problem(data.X, data.y, data.groups, np.zeros(4_000, dtype=bool))

    def fit(many_rows):
        searching = SearchSettings(population=PopulationSettings(many_rows=many_rows))
        with Workers(1) as workers:
            settings = AutoSettings(0, pairing="lost", searching=searching)
            return fit_auto(InMemory(problem, workers), settings)

    small, large = fit(10_000), fit(500)
    assert not large.search.certified
    assert large.verdict.level == small.verdict.level == "trust"
    error = np.linalg.norm(small.fit.uncertainty.standard_errors)
    assert np.linalg.norm(large.fit.coef - small.fit.coef) < error


@pytest.mark.parametrize(("rank", "rows"), [(1, 10_000), (5, 10_000), (20, 4_642), (500, 2_000)])
def test_a_sample_has_fewer_rows_where_there_are_many_columns(rank, rows):
    assert rows_to_search(rank, PopulationSettings(), DescentSettings()) == rows
