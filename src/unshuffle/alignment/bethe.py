"""Alignment by message passing where rows and labels are in unequal numbers: no Monte Carlo error.

`kernels.partial_bethe` sums over partial matchings, with nobody as a partner of rows and labels. It
gives the expectations that `PartialChain` samples, nearly, and the likelihood of all labels, which
the chain cannot give.
"""

import math
from typing import NamedTuple

import numpy as np

from ..data.unequal import UnequalProblem
from ..kernels.partial_bethe import BetheSums, sum_matchings
from ..kernels.types import FloatArray
from .partial import LARGEST_LOG_ODDS, PartialAlignment, gains_and_densities, shares_of
from .state import State

MOST_ROUNDS = 100  # of messages
STOP = 1e-3  # change of a message, which lies between 0 and 1


class BetheAlignment(NamedTuple):
    """Expectations, and the log likelihood of all labels.

    Attributes
    ----------
    expected : PartialAlignment
        Without a matching: `label_of` is that of the state.
    log_likelihood : float
    """

    expected: PartialAlignment
    log_likelihood: float


def align_by_messages(problem: UnequalProblem, state: State) -> BetheAlignment:
    """Expected labels of all rows at `state`, known pairs included."""
    rows, labels = problem.n_open_rows, problem.n_open_labels
    gain, density = gains_and_densities(problem, state)
    precision = state.noise_scale**-2.0
    sums = BetheSums(np.empty(rows), np.empty(rows), np.empty(rows), np.empty(labels))
    total = _of_counts(problem, 1.0 - state.mismatch_rate) + float(density.sum())
    for g in range(problem.n_groups):
        one = slice(*problem.row_starts[g : g + 2])
        other = slice(*problem.label_starts[g : g + 2])
        of_group = BetheSums(
            sums.holds[one], sums.held[one], sums.held_squares[one], sums.is_held[other]
        )
        total += sum_matchings(
            state.fitted[one], problem.y[other], gain[other], precision, MOST_ROUNDS, STOP, of_group
        )
    known, ones = problem.y[labels:], np.ones(problem.n_known)
    apart = (known - state.fitted[rows:]) / state.noise_scale
    total -= float(0.5 * apart @ apart) + problem.n_known * math.log(state.noise_scale)
    expected = PartialAlignment(
        np.concatenate([sums.holds, ones]),
        np.concatenate([sums.held, known]),
        float(sums.held_squares.sum() + known @ known),
        np.concatenate([sums.is_held, ones]),
        state.perm,
        0.0,
    )
    return BetheAlignment(expected, total)


def _of_counts(problem: UnequalProblem, matched: float) -> float:
    """Log probability of all rows and labels being alone, without densities and constants."""
    rows: FloatArray = problem.group_rows.astype(np.float64)
    strangers = shares_of(problem, matched).strangers * rows
    alone = math.log(max(1.0 - matched, math.exp(-LARGEST_LOG_ODDS)))
    of_labels = problem.group_labels * np.log(strangers) - strangers
    return float(rows.sum() * alone + of_labels.sum())
