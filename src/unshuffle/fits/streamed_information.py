"""Standard errors of a fit over parts, by Louis' formula (see `inference.information`)."""

import math

import numpy as np

from ..data import passes
from ..data.survey import add_up, exponents_above
from ..em.information import SWEEPS_PER_SNAPSHOT, Covariance, covariance_less, with_chance
from ..kernels.types import FloatArray
from .streamed import SLACK, StreamedEM, StreamedResult

# Snapshots of each block; many blocks average out what few snapshots of each leave uncertain.
SNAPSHOTS_OF_ALL_BLOCKS, FEWEST_SNAPSHOTS, MOST_SNAPSHOTS = 4_000, 50, 250


def streamed_covariance(em: StreamedEM, result: StreamedResult) -> Covariance:
    """Covariance of the estimates at the end of a fit; one more pass over the data."""
    facts, solver, state = em.facts, em.solver, result.state
    d = len(state.coef)
    missing = np.zeros((solver.rank + 2, solver.rank + 2))
    if facts.n_blocks:
        wanted = math.ceil(SNAPSHOTS_OF_ALL_BLOCKS / facts.n_blocks)
        n_snapshots = min(max(wanted, FEWEST_SNAPSHOTS), MOST_SNAPSHOTS)
        upper = np.triu_indices(d + 2)
        single = exponents_above(_largest_scores(em, result))
        exponents = single[upper[0]] + single[upper[1]]
        answers = em.parts.map(
            passes.score_products,
            em.model(state, em.settings.sweeps),
            em.settings.seed,
            len(result.steps) + 1,
            n_snapshots,
            float(SWEEPS_PER_SNAPSHOT),
            exponents,
            name="standard-errors",
        )
        products = np.zeros((d + 2, d + 2))
        products[upper] = products.T[upper] = add_up(answers, exponents)[0] / (n_snapshots - 1)
        # From sums over columns to the score in an orthonormal basis.
        lead = np.zeros((solver.rank + 2, d + 2))
        lead[:-2, :d] = solver.to_coef.T / state.noise_scale**2
        lead[-2, d] = state.noise_scale**-2.0
        lead[-1, d + 1] = 1.0
        missing = lead @ products @ lead.T
    rate = None
    if em.settings.estimates and facts.n_movable:
        rate = result.final.mismatched_share
    covariance = covariance_less(facts, solver, state.noise_scale, missing, rate)
    return with_chance(covariance, *result.added)


def _largest_scores(em: StreamedEM, result: StreamedResult) -> FloatArray:
    """Bounds of a block's score; distances from a mean are at most twice as large."""
    facts, m = em.facts, em.facts.largest_block
    residual = em.largest_residual(result.state)
    columns = m * facts.reach[:-1] * residual
    return 2.0 * SLACK * np.append(columns, [m * residual**2, float(m)])
