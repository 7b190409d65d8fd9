"""Would the search find these coefficients again, if they were the true ones?"""

import numpy as np

from ..kernels.streams import FIRST_REFIT, numbered_generator, refit_seed
from ..kernels.types import FloatArray
from .landscape import Landscape
from .population import search_population


def refit_distances(
    landscape: Landscape,
    theta: FloatArray,
    noise_scale: float,
    *,
    n_simulations: int,
    n_candidates: int,
    seed: int,
) -> FloatArray:
    """Simulate labels from a fit, forget their order, and match again; shape (n_simulations,).

    The distance between what is found and `theta`, as a share of the length of `theta`. The true
    coefficients are among the starts: the question is whether the best match lies near the truth,
    not whether random starts would lead there.
    """
    length = float(np.linalg.norm(theta))
    if length == 0.0:
        return np.full(n_simulations, np.inf)
    fitted = theta @ landscape.labels.basis + (landscape.problem.y - landscape.y)
    distances = np.empty(n_simulations)
    for number in range(n_simulations):
        rng = numbered_generator(seed, FIRST_REFIT + number)
        labels = fitted + noise_scale * rng.normal(size=len(fitted))
        simulated = landscape.with_labels(labels)
        from_truth = theta[None].copy()
        most_steps = landscape.settings.descent.most_steps
        left = simulated.total - simulated.descend(from_truth, most_steps)[0]
        found = search_population(
            simulated, n_candidates=n_candidates, seed=refit_seed(seed, number)
        )
        best = from_truth[0] if left <= found.objectives[0] else found.thetas[0]
        distances[number] = np.linalg.norm(best - theta) / length
    return distances


def usual_distance(distances: FloatArray) -> float:
    """The distance that all simulations but one stay within.

    With a few features a wrong answer, such as the other sign of a slope, can look as good as the
    right one: then about half of the simulations end there, and two of them are enough to show it.
    """
    return float(np.sort(distances)[-2] if len(distances) > 1 else distances[-1])
