r"""How much more likely labels in lost order are under one law of the noise than under another.

With :math:`Z_\tau = \sum_\pi \prod_i f_0(y_{\pi(i)} \mid x_i)^{1-\tau}
f_1(y_{\pi(i)} \mid x_i)^\tau` the log likelihoods of two fits differ by
:math:`\log Z_1 - \log Z_0 = \int_0^1 E_\tau \sum_i \log (f_1 / f_0) \, d\tau`, where the
expectation is over permutations with probabilities in proportion to the products. A chain gives it
at the nodes of Gauss and Legendre.
"""

from dataclasses import replace

import numpy as np

from ..alignment.hard import most_likely_permutation
from ..alignment.law_chain import LawChain
from ..alignment.state import State
from ..data.problem import Problem
from ..data.threads import Workers
from ..families.law_tables import log_density_at, standard_deviation
from ..kernels.law_sweep import Side
from ..kernels.noise import NoiseLaw
from ..kernels.streams import FIRST_LAW_PATH
from ..kernels.types import FloatArray
from .predictive import GroupDensities, group_log_densities

NODES = 7
KEPT_SWEEPS, WARM_SWEEPS = 60, 30


def log_likelihood_gains(problem: Problem, seed: int, before: State, after: State) -> FloatArray:
    """Log likelihood of `after` less that of `before`; both with their law and fitted values.

    One number for every block, and one for all rows that cannot move; shape (n_blocks + 1,).
    """
    assert before.law is not None and after.law is not None
    longer = LawChain(problem, seed, WARM_SWEEPS, KEPT_SWEEPS)
    tables = longer.tables(after.law, after.fitted)
    first = longer.tables(before.law, before.fitted).log_density
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    state, total = after._replace(perm=before.perm), np.zeros(problem.n_blocks + 1)
    for number, (node, weight) in enumerate(zip(nodes, weights, strict=True)):
        share = 0.5 * (1.0 + float(node))
        ends = (
            Side(before.fitted, first, 1.0 - share),
            Side(after.fitted, tables.log_density, share),
        )
        found = longer.run(state, *ends, tables, FIRST_LAW_PATH + number)
        state = state._replace(perm=found.perm)
        total += 0.5 * float(weight) * found.sums.difference
    return total


def label_densities(
    problem: Problem,
    fitted: FloatArray,
    noise_scale: float,
    law: NoiseLaw | None,
    *,
    seed: int,
    workers: Workers,
) -> GroupDensities:
    """Log density of the labels of each group under normal noise, or under another law.

    Of a law with mean zero it is that under normal noise of the same standard deviation, and what
    the law adds to it. The error is that of the normal part.
    """
    if law is None:
        return group_log_densities(problem, fitted, noise_scale, seed=seed, workers=workers)
    noise = standard_deviation(law)
    found = group_log_densities(problem, fitted, noise, seed=seed, workers=workers)
    normal = NoiseLaw(np.ones(1), np.zeros(1), np.array([noise]))
    before = State(
        np.empty(0), 0.0, noise, 0.0, fitted=fitted, labels=problem.y,
        perm=most_likely_permutation(problem, fitted), law=normal,
    )  # fmt: skip
    gains = log_likelihood_gains(problem, seed, before, before._replace(law=law))
    n = problem.n_movable
    pinned = log_density_at(law, problem.y[n:] - fitted[n:])
    return replace(found, blocks=found.blocks + gains[:-1], pinned=pinned)
