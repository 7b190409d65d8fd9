"""Would the search find these coefficients again in two tables of unequal counts?

Labels are simulated from a fit with the same rows and labels in each group: as many rows hold a
label as in a draw of the chain, which rows these are is random, and the other labels belong to rows
that are missing. Then they are matched again.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from ..alignment.partial import spread_inside
from ..data.unequal import UnequalProblem
from ..kernels.streams import FIRST_REFIT, numbered_generator, refit_seed
from ..kernels.types import FloatArray, IntArray
from .partial import STARTS, affordable_candidates
from .partial_choice import most_likely_first
from .partial_landscape import PartialLandscape
from .population import SearchResult, search_population


def partial_refit_distances(
    landscape: PartialLandscape, fitted: FloatArray, noise_scale: float, pairs: IntArray, seed: int
) -> FloatArray:
    """Simulate labels from a fit, and match again; shape (n_simulations,).

    The distance between the slopes found and those of `fitted`, as a share of the length of the
    latter. As in `recovery.refit_distances` the true coefficients are among the starts, and as in a
    fit the optimum is taken under which all labels are most likely.

    Parameters
    ----------
    landscape : PartialLandscape
    fitted : array of shape (n_rows,)
        Fitted values of the landscape's rows.
    noise_scale : float
    pairs : array of shape (n_draws, n_groups)
        Rows of each group that hold a label in draws of the chain.
    seed : int
    """
    settings = landscape.settings
    few = landscape.rank <= settings.match.few_directions
    distances = np.empty(settings.match.refits_of_few if few else settings.match.refits)
    slopes = slice(int(landscape.solver.fit_intercept), None)
    theta = np.asarray(np.linalg.lstsq(landscape.Z, fitted, rcond=None)[0], dtype=np.float64)
    length = float(np.linalg.norm(theta[slopes]))
    if length == 0.0:
        return np.full(len(distances), np.inf)
    work = settings.partial.null_share * settings.partial.most_work
    affordable = max(affordable_candidates(landscape, work), 2)
    for number in range(len(distances)):
        rng = numbered_generator(seed, FIRST_REFIT + number)
        drawn = pairs[len(pairs) * number // len(distances)]
        labels = simulate_labels(landscape.problem, fitted, noise_scale, drawn, rng)
        simulated = landscape.with_labels(labels)
        found = search_population(
            simulated,
            n_candidates=min(settings.match.refit_candidates, affordable),
            seed=refit_seed(seed, number),
            starts=STARTS,
        )
        best = _choose(simulated, theta, found)
        distances[number] = np.linalg.norm((best - theta)[slopes]) / length
    return distances


def _choose(landscape: PartialLandscape, theta: FloatArray, found: SearchResult) -> FloatArray:
    """The optimum that a fit would start from, that which the truth `theta` leads to included."""
    settings = landscape.settings
    from_truth = theta[None].copy()
    explained = landscape.descend(from_truth, settings.descent.most_steps, first_scale=0.0)
    left = landscape.total - float(explained[0])
    apart = np.linalg.norm(found.thetas - from_truth, axis=1)
    near = apart < settings.population.distance * landscape.total**0.5
    # As in a search, ends near each other are one optimum, at the better of them.
    kept = ~(near & (found.objectives >= left))
    ends = found
    if not (near & kept).any():
        ends = replace(
            found,
            thetas=np.vstack([from_truth, found.thetas[kept]]),
            objectives=np.append(left, found.objectives[kept]),
            n_found=np.append(0, found.n_found[kept]),
        )
    search, followed = most_likely_first(landscape, ends)
    chosen: FloatArray = search.thetas[0] if followed is None else followed.theta
    return chosen


def simulate_labels(
    problem: UnequalProblem,
    fitted: FloatArray,
    noise_scale: float,
    pairs: IntArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Labels of a model with as many pairs in each group, arranged like those of `problem`.

    A label of nobody has the fitted value of a missing row, which is like one of its group: as in
    the density of such labels it is one of these, smoothed by Silverman's bandwidth.
    """
    rows, labels = problem.n_open_rows, problem.n_open_labels
    spread = spread_inside(fitted[:rows], problem.row_starts) if rows else 0.0
    drawn = np.empty(problem.n_labels)
    edges = zip(pairwise(problem.row_starts), pairwise(problem.label_starts), strict=True)
    for n_pairs, ((first, last), (begin, end)) in zip(pairs, edges, strict=True):
        own = fitted[first:last]
        bandwidth = 0.9 * spread * len(own) ** -0.2
        alone = end - begin - n_pairs
        missing = rng.choice(own, size=alone) + bandwidth * rng.normal(size=alone)
        centres = np.concatenate([rng.permutation(own)[:n_pairs], missing])
        drawn[begin:end] = np.sort(centres + noise_scale * rng.normal(size=end - begin))
    noise = noise_scale * rng.normal(size=problem.n_known)
    drawn[labels:] = fitted[rows:] + noise
    return drawn
