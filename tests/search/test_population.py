import numpy as np
import pytest

from oracles import group_permutations
from unshuffle.data.problem import make_problem
from unshuffle.data.threads import Workers
from unshuffle.datasets import make_shuffled_regression
from unshuffle.families.least_squares import LeastSquares
from unshuffle.search.landscape import Landscape
from unshuffle.search.population import automatic_budget, search_population
from unshuffle.search.restarts import hard_em_restarts
from unshuffle.search.settings import DEFAULT, DescentSettings, PopulationSettings, SearchSettings
from unshuffle.search.starts import deterministic_starts, free_dimensions, group_means


def landscape_of(data, n_jobs=1, known=None, fit_intercept=True, settings=DEFAULT):
    known = np.zeros(len(data.y), dtype=bool) if known is None else known
    problem = make_problem(data.X, data.y, data.groups, known)
    solver = LeastSquares(problem.X, fit_intercept=fit_intercept)
    return Landscape(problem, solver, Workers(n_jobs), settings)


def search(landscape, n_candidates, seed=0, report=lambda tried, objective: None):
    return search_population(landscape, n_candidates=n_candidates, seed=seed, report=report)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_tiny_problems_reach_the_best_of_all_permutations(seed, fit_intercept):
    data = make_shuffled_regression(
        8, 2, noise=0.3, shuffle="groups", n_groups=2, random_state=seed
    )
    known = np.arange(8) == seed
    landscape = landscape_of(data, known=known, fit_intercept=fit_intercept)
    problem, y = landscape.problem, landscape.y
    residuals = [
        landscape.total - np.sum((landscape.labels.basis @ y[p]) ** 2)
        for p in group_permutations(problem.starts, 8)
    ]
    found = search(landscape, 500, seed)
    assert found.objectives[0] == pytest.approx(min(residuals))
    state = landscape.state(found.thetas[0])
    fitted = problem.arrange(data.X @ state.coef + state.intercept)
    matched = min(
        np.sum((problem.y[p] - fitted) ** 2) for p in group_permutations(problem.starts, 8)
    )
    assert matched == pytest.approx(found.objectives[0])


@pytest.mark.long
def test_four_groups_that_defeat_em_are_recovered():
    data = make_shuffled_regression(
        506, 13, noise=0.5, shuffle="groups", n_groups=4, random_state=1
    )
    landscape = landscape_of(data)
    found = search(landscape, automatic_budget(landscape))
    error = np.linalg.norm(landscape.state(found.thetas[0]).coef - data.coef)
    alone = landscape.theta_of(landscape.y)[None].copy()
    assert landscape.descend(alone, 500)[0] < landscape.total - found.objectives[0]
    assert np.linalg.norm(landscape.state(alone[0]).coef - data.coef) > 5 * error
    assert error < 0.5


def test_optima_are_distinct_ranked_and_local():
    data = make_shuffled_regression(100, 3, noise=0.3, random_state=0)
    landscape = landscape_of(data)
    found = search(landscape, 600)
    assert len(found.objectives) > 3
    assert np.all(np.diff(found.objectives) >= 0)
    apart = np.linalg.norm(found.thetas[:, None] - found.thetas, axis=2)
    # An end that replaced a member may have moved by less than one distance towards another.
    assert apart[np.triu_indices(len(apart), 1)].min() > 0
    again = found.thetas.copy()
    np.testing.assert_allclose(landscape.total - landscape.descend(again, 500), found.objectives)


def test_threads_do_not_change_the_answer():
    data = make_shuffled_regression(120, 4, noise=0.5, shuffle="groups", n_groups=3, random_state=2)
    landscapes = [landscape_of(data), landscape_of(data, 2), landscape_of(data)]
    one, two = search(landscapes[0], 700, 5), search(landscapes[1], 700, 5)
    np.testing.assert_array_equal(one.thetas, two.thetas)
    np.testing.assert_array_equal(one.n_found, two.n_found)
    assert landscapes[0].n_steps == landscapes[1].n_steps
    search(landscapes[2], 700, 6)
    assert landscapes[2].n_steps != landscapes[0].n_steps


def test_calls_of_any_length_end_in_the_same_restarts():
    data = make_shuffled_regression(300, 3, noise=0.5, shuffle="groups", n_groups=6, random_state=1)
    problem = make_problem(data.X, data.y, data.groups, np.zeros(300, dtype=bool))
    solver = LeastSquares(problem.X, fit_intercept=True)

    def restart(n_jobs, work_per_call):
        return hard_em_restarts(
            problem, solver, [], n_shuffles=9, max_iter=20, seed=3, workers=Workers(n_jobs),
            report=lambda done, lowest: None,
            settings=SearchSettings(descent=DescentSettings(work_per_call=work_per_call)),
        )  # fmt: skip

    whole, cut = restart(1, 20_000_000), restart(3, 1)
    np.testing.assert_array_equal(whole.objectives, cut.objectives)
    np.testing.assert_array_equal(whole.best.coef, cut.best.coef)


def test_smaller_settings_end_the_search_sooner():
    data = make_shuffled_regression(100, 3, noise=0.3, random_state=0)
    few = SearchSettings(population=PopulationSettings(size=2, candidates=3, found_often=1))
    usual, small = landscape_of(data), landscape_of(data, settings=few)
    assert automatic_budget(small) < automatic_budget(usual)
    assert len(search(small, 600).objectives) <= 2 < len(search(usual, 600).objectives)


def test_the_budget_is_kept_and_reported():
    data = make_shuffled_regression(200, 10, noise=1.0, random_state=0)
    seen = []
    found = search(
        landscape_of(data), 350, report=lambda tried, objective: seen.append((tried, objective))
    )
    assert found.n_candidates == seen[-1][0] == 350
    assert found.stopped_by == "budget"
    assert [value for _, value in seen] == sorted((value for _, value in seen), reverse=True)
    with pytest.raises(ValueError, match="at least one candidate"):
        search(landscape_of(data), 0)
    assert search(landscape_of(data), 1).n_candidates == 1


def test_group_means_are_free_of_the_shuffle():
    data = make_shuffled_regression(
        600, 3, noise=0.0, shuffle="groups", n_groups=30, group_by="random", random_state=0
    )
    landscape = landscape_of(data)
    found = landscape.state(group_means(landscape)).coef
    np.testing.assert_allclose(found, data.coef, atol=1e-9)
    assert free_dimensions(landscape) == 0
    lost = landscape_of(make_shuffled_regression(600, 3, random_state=0))
    assert free_dimensions(lost) == 3
    assert deterministic_starts(lost).shape == (2, 3)


def test_momentum_takes_fewer_steps_than_plain_descents_and_ends_no_higher():
    data = make_shuffled_regression(200, 8, noise=0.1, random_state=0)
    ends, steps = {}, {}
    for momentum in (0.0, 1.5):
        landscape = landscape_of(data)
        thetas = np.random.default_rng(0).normal(size=(500, 8))
        ends[momentum] = np.median(landscape.descend(thetas, 500, momentum=momentum))
        steps[momentum] = landscape.n_steps
    assert steps[1.5] < steps[0.0]
    assert ends[1.5] > ends[0.0]
