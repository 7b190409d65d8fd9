"""Where a fit over parts begins when the order is lost inside many groups: on a sample of them.

The sample is the same whatever the partition, and is fitted where the fit is led from.
"""

import numpy as np

from ..data import passes
from ..data.passes import SampledBlocks
from ..data.problem import Problem
from ..data.survey import Parts, Survey
from ..data.threads import Workers
from ..em.sample import SAMPLE_ROWS, SampleFit, fit_sample


def begin_on_blocks(parts: Parts, facts: Survey, *, fit_intercept: bool, seed: int) -> SampleFit:
    """Fit a sample of whole blocks."""
    share = SAMPLE_ROWS / facts.n_movable
    few = put_together(parts.map(passes.sample_blocks, share, name="sample"))
    with Workers(1) as workers:
        return fit_sample(few, fit_intercept=fit_intercept, seed=seed, workers=workers)


def put_together(pieces: list[SampledBlocks]) -> Problem:
    """One problem from the samples of all parts, in an order that does not depend on the cut."""
    edges = [np.cumsum(np.append(0, piece.sizes)) for piece in pieces]
    blocks = [
        (int(stream), number, k)
        for number, piece in enumerate(pieces)
        for k, stream in enumerate(piece.streams)
    ]
    rows = [
        (number, np.arange(edges[number][k], edges[number][k + 1]))
        for _, number, k in sorted(blocks)
    ]
    pinned = sorted(
        (int(row), number, int(edges[number][-1]) + k)
        for number, piece in enumerate(pieces)
        for k, row in enumerate(piece.pinned)
    )
    rows += [(number, np.array([place])) for _, number, place in pinned]
    X = np.concatenate([pieces[number].X[place] for number, place in rows])
    y = np.concatenate([pieces[number].y[place] for number, place in rows])
    sizes = [len(place) for _, place in rows[: len(blocks)]]
    starts = np.cumsum(np.append(0, sizes)).astype(np.int64)
    return Problem(X, y, starts, None, len(blocks) + len(pinned))
