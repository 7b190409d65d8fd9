"""Runs of a chain at the end of a fit, averaged until the match probabilities are precise."""

from typing import NamedTuple

import numpy as np

from ..alignment.state import Alignment, State
from ..em.memory import MemoryTable
from ..em.settings import FinalSettings


class Runs(NamedTuple):
    """The mean over runs that continue each other, and their number."""

    mean: Alignment
    number: int


def average_runs(
    table: MemoryTable,
    state: State,
    stream: int,
    most: int,
    later: float,
    settings: FinalSettings,
) -> Runs:
    """Average the alignment at `state` over at most so many runs, numbered from `stream` on.

    Runs end where the Monte Carlo error of doubtful match probabilities will be small once `later`
    further runs, or their like, have been added.
    """
    mean = table.align(state, stream)
    spread = np.zeros(len(state.fitted))  # sum of squares around the mean, run by run
    for count in range(1, most):
        more = table.align(state._replace(perm=mean.perm), stream + count)
        before, mean = mean.match_proba, _running_mean(mean, more, count)
        if before is None or more.match_proba is None or mean.match_proba is None:
            continue
        spread += (more.match_proba - before) * (more.match_proba - mean.match_proba)
        low, high = settings.doubtful_match
        doubtful = (mean.match_proba > low) & (mean.match_proba < high)
        variance = float(spread[doubtful].mean()) / count if doubtful.any() else 0.0
        if variance < settings.match_error**2 * (count + 1 + later):
            return Runs(mean, count + 1)
    return Runs(mean, most)


def _running_mean(mean: Alignment, more: Alignment, n_before: int) -> Alignment:
    """Add one more run to the mean of `n_before`; the chain continues from its end."""
    share = 1.0 / (n_before + 1)
    matched = mean.match_proba
    if matched is not None and more.match_proba is not None:
        matched = matched + share * (more.match_proba - matched)
    return more._replace(
        expected=mean.expected + share * (more.expected - mean.expected),
        spread=mean.spread + share * (more.spread - mean.spread),
        match_proba=matched,
    )
