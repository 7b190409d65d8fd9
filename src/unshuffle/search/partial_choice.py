r"""Which of several matches in unequal counts to start from: the one with most posterior mass.

A match with few missing partners, or with little noise, can have the larger likelihood of a single
matching, because it overfits: wrong lines leave labels to nobody wherever they lie badly. So rivals
are followed by EM that sums over all partial matchings (`alignment.bethe`) and compared by

.. math:: \log p(y \mid \theta, s, \pi) - \frac{1}{2} \log \det \frac{Z^\top P Z}{s^2},

the logarithm of the posterior mass around :math:`\theta` under a flat prior, up to a constant.
Without the second term a narrow optimum, of which a search finds one among thousands, would win by
the number of tries.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..alignment.bethe import align_by_messages
from ..alignment.state import State
from ..em.partial import PartialTable
from ..kernels.types import FloatArray
from .partial_landscape import PartialLandscape
from .population import SearchResult


class Followed(NamedTuple):
    """Where EM over all partial matchings leads from a match.

    Attributes
    ----------
    theta : array of shape (rank,)
    noise_scale, share : float
    evidence : float
        Logarithm of the posterior mass, up to a constant.
    """

    theta: FloatArray
    noise_scale: float
    share: float
    evidence: float


class Chosen(NamedTuple):
    """Optima, the chosen one first, and where EM leads from it; None if it has no rival."""

    search: SearchResult
    followed: Followed | None


def most_likely_first(
    landscape: PartialLandscape, found: SearchResult, bounds: tuple[float, float] = (0.0, 1.0)
) -> Chosen:
    """The same optima, the one to start from before the others.

    `bounds` are those of the share of rows that have a label.
    """
    likely = np.array([landscape.log_likelihood(theta) for theta in found.thetas])
    best, followed = int(np.argmax(likely)), None
    for k in _rivals(landscape, likely):
        end = follow(landscape, found.thetas[k], bounds)
        if followed is None or end.evidence > followed.evidence:
            best, followed = int(k), end
    order = [best, *(k for k in range(len(likely)) if k != best)]
    search = replace(
        found,
        thetas=found.thetas[order],
        objectives=found.objectives[order],
        n_found=found.n_found[order],
    )
    return Chosen(search, followed)


def _rivals(landscape: PartialLandscape, likely: FloatArray) -> list[int]:
    """Optima worth following, the most likely first; none where one stands alone."""
    settings = landscape.settings.partial
    affordable = int(settings.choice_work / (landscape.n_cells * settings.rounds_per_choice))
    doubt = settings.doubt_per_pair * landscape.n_pairs
    order = np.argsort(-likely, kind="stable")[: min(settings.most_followed, affordable)]
    near = [int(k) for k in order if likely[k] >= likely[order[0]] - doubt]
    return near if len(near) > 1 else []


def follow(landscape: PartialLandscape, theta: FloatArray, bounds: tuple[float, float]) -> Followed:
    """EM from a match until the likelihood stands still."""
    settings, problem = landscape.settings.partial, landscape.problem
    table = PartialTable(problem, landscape.solver, bounds)
    held = landscape.match(theta)
    holds = held >= 0
    squares = float(((problem.y[held[holds]] - (landscape.Z @ theta)[holds]) ** 2).sum())
    freedom = max(landscape.n_pairs - landscape.rank, 1)
    noise = settings.first_noise * math.sqrt(squares / freedom)
    share = max(table.bounds[0], settings.first_share * table.bounds[1])
    state = table.start(theta, noise, share, held)
    before = -math.inf
    for _ in range(settings.choice_steps):
        aligned = align_by_messages(problem, state)
        last, state = state, table.solve(aligned.expected)
        if abs(aligned.log_likelihood - before) < settings.choice_stop:
            break
        before = aligned.log_likelihood
    gram = table.information(aligned.expected.holds)
    return Followed(
        coordinates(landscape, state),
        state.noise_scale,
        1.0 - state.mismatch_rate,
        aligned.log_likelihood - 0.5 * _log_det(gram / last.noise_scale**2),
    )


def coordinates(landscape: PartialLandscape, state: State) -> FloatArray:
    """The coefficients of a state in the coordinates of the landscape."""
    theta = np.linalg.lstsq(landscape.Z, state.fitted, rcond=None)[0]
    return np.asarray(theta, dtype=np.float64)


def _log_det(matrix: FloatArray) -> float:
    return float(np.linalg.slogdet(matrix)[1])
