"""A family is a class of its own: the alignments take it without any other change."""

from itertools import permutations

import numpy as np
import pytest
from scipy.special import gammaln

from unshuffle.alignment.chain import Chain
from unshuffle.alignment.exact import ExactAlignment
from unshuffle.alignment.priors import Prior
from unshuffle.alignment.sampled import SampledAlignment
from unshuffle.alignment.sinkhorn import SinkhornAlignment
from unshuffle.alignment.state import State
from unshuffle.data.problem import Problem, make_problem
from unshuffle.data.threads import Workers
from unshuffle.em.loop import run_em
from unshuffle.em.memory import MemoryTable
from unshuffle.em.stopping import never
from unshuffle.families.family import Estimate, Interaction
from unshuffle.families.normal import NORMAL, Normal
from unshuffle.kernels.swap import Schedule

N = 5


class Poisson(Normal):
    """Counts with the canonical link: ``u = eta``, ``v = y``; `fitted` is eta."""

    depends_on_difference = False

    def interaction(self, fitted, noise_scale):
        return Interaction(fitted, 1.0)

    def log_density(self, labels, fitted, noise_scale):
        return labels * fitted - np.exp(fitted) - gammaln(labels + 1.0)

    def density(self, labels, fitted, noise_scale):
        return np.exp(self.log_density(labels, fitted, noise_scale))

    def solve(self, solver, expected, spread, label_spread):
        """Newton's method for a GLM on expected labels."""
        design = np.column_stack([np.ones(len(expected)), solver.X])
        beta = np.zeros(design.shape[1])
        for _ in range(50):
            mean = np.exp(design @ beta)
            gram = design.T @ (mean[:, None] * design)
            beta = beta + np.linalg.solve(gram, design.T @ (expected - mean))
        eta = design @ beta
        return Estimate(
            beta[1:], float(beta[0]), eta, float(np.exp(eta).sum() - expected @ eta), 1.0
        )


class WrongPoisson(Poisson):
    """The control: twice the information that a label holds."""

    def interaction(self, fitted, noise_scale):
        return Interaction(fitted, 2.0)


@pytest.fixture
def setting():
    rng = np.random.default_rng(0)
    eta = rng.normal(size=N)
    y = rng.poisson(np.exp(eta)).astype(float)
    problem = Problem(np.empty((N, 0)), y, np.array([0, N]), None, 1)
    state = State(np.empty(0), 0.0, 1.0, 0.0, fitted=eta, labels=y, perm=np.arange(N))
    orders = np.array(list(permutations(range(N))))
    weight = np.exp((y[orders] * eta).sum(axis=1))
    return problem, state, (weight / weight.sum()) @ y[orders]


def sampled(problem, state, family, n_runs=40):
    """Mean labels of independent runs, and their Monte Carlo error."""
    chain = Chain(problem, Schedule(4_000, 400, 1), 1, Workers(1))
    align = SampledAlignment(chain, Prior(), family)
    runs = np.array([align(state, k).expected for k in range(n_runs)])
    return runs.mean(axis=0), runs.std(axis=0, ddof=1) / n_runs**0.5


def test_enumeration_takes_any_family(setting):
    problem, state, truth = setting
    found = ExactAlignment(problem, Prior(), Poisson())(state, 0)
    np.testing.assert_allclose(found.expected, truth)
    # A normal label of noise 1 says as much about a row; one of noise 1/2 four times as much.
    normal = ExactAlignment(problem, Prior(), NORMAL)
    np.testing.assert_allclose(normal(state, 0).expected, truth)
    assert not np.allclose(normal(state._replace(noise_scale=0.5), 0).expected, truth)


def test_the_chain_takes_any_family(setting):
    problem, state, truth = setting
    mean, error = sampled(problem, state, Poisson())
    assert np.all(np.abs(mean - truth) < 4.5 * error)
    wrong, error = sampled(problem, state, WrongPoisson())
    assert np.any(np.abs(wrong - truth) > 4.5 * error)


def test_sinkhorn_keeps_to_the_dense_matrix_for_other_families(setting):
    problem, state, truth = setting
    found = SinkhornAlignment(problem, Prior(), Poisson())(state, 0)
    assert found.expected.sum() == pytest.approx(problem.y.sum())
    assert np.corrcoef(found.expected, truth)[0, 1] > 0.9


def test_the_normal_family_is_its_own_exponential_form():
    rng = np.random.default_rng(1)
    fitted, y, scale = rng.normal(size=4), rng.normal(size=4), 0.7
    rows = NORMAL.interaction(fitted, scale)
    table = NORMAL.log_density(y, fitted[:, None], scale)
    product = rows.weight * np.outer(rows.values, NORMAL.statistic(y))
    rest = table - product  # a_i + b_j: its interaction vanishes
    centred = rest - rest.mean(axis=0) - rest.mean(axis=1)[:, None] + rest.mean()
    np.testing.assert_allclose(centred, 0.0, atol=1e-12)


def test_em_takes_any_family():
    """With enumerated alignment EM raises the marginal likelihood of counts in lost order."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(24, 1))
    y = rng.poisson(np.exp(0.5 + 1.2 * X[:, 0])).astype(float)
    problem = make_problem(X, y, np.arange(24) // 4, np.zeros(24, dtype=bool))
    family = Poisson()
    solver = family.solver(X, fit_intercept=True)
    table = MemoryTable(problem, solver, ExactAlignment(problem, Prior(), family), family=family)

    def log_marginal(step):
        eta = step.intercept + X @ step.coef
        total = 0.0
        for first in range(0, 24, 4):
            rows = slice(first, first + 4)
            terms = [
                family.log_density(y[rows][list(p)], eta[rows], 1.0).sum()
                for p in permutations(range(4))
            ]
            total += np.logaddexp.reduce(terms)
        return total

    start = table.move(table.ordinary_start(), np.array([0.1]), 0.5, noise_scale=1.0)
    steps = run_em(table, start, max_iter=40, stop=never).steps
    values = [log_marginal(step) for step in steps]
    assert np.all(np.diff(values) >= -1e-9)
    assert values[-1] - values[0] > 1e-3
    assert steps[-1].coef[0] == pytest.approx(1.2, abs=0.5)
