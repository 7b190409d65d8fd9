"""Fits in passes that start on a sample of groups: one answer for any cut, sooner than by EM."""

import numpy as np
import pytest

from fitting import in_passes
from unshuffle.data.passes import SampledBlocks
from unshuffle.em.passes import put_together
from unshuffle.em.settings import EMSettings, SampleSettings
from unshuffle.fits.checkpoint import CheckpointFile

pytestmark = pytest.mark.long

COEF = np.array([1.0, -2.0])
SMALL = EMSettings(sample=SampleSettings(rows=2_500, fewest_rows=3_000, fewest_groups=100))


def shuffled(n=6_000, size=30):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    y = X @ COEF + 0.5 * rng.normal(size=n)
    known = np.arange(n) % 97 == 0
    for first in range(0, n, size):
        rows = first + np.flatnonzero(~known[first : first + size])
        y[rows] = y[rng.permutation(rows)]
    return X, y, np.repeat(np.arange(n // size), size), known


def fit(max_iter=60, em=SMALL, **settings):
    return in_passes(*shuffled(), max_iter=max_iter, em=em, **settings)


def test_the_cut_does_not_matter():
    one, many = fit(rows_per_part=10_000), fit(rows_per_part=700)
    assert one.iterations.converged
    assert np.array_equal(one.iterations.coef, many.iterations.coef)
    assert np.array_equal(one.uncertainty.covariance, many.uncertainty.covariance)


def test_ends_where_em_ends():
    fast, plain = fit(), fit(max_iter=300, em=EMSettings())
    assert fast.iterations.n_iter < plain.iterations.n_iter
    errors = plain.uncertainty.standard_errors
    assert np.abs((fast.coef - plain.coef) / errors[1:]).max() < 1.0  # both have Monte Carlo error
    assert np.abs(fast.coef - COEF).max() < 4.5 * errors.max()


def test_an_interrupted_fit_continues_along_the_same_path(tmp_path):
    whole = fit()
    path = tmp_path / "fit.npz"
    assert not fit(max_iter=6, checkpoint=CheckpointFile(path, every=3)).iterations.converged
    resumed = fit(checkpoint=CheckpointFile(path, resume=True))
    assert np.array_equal(resumed.iterations.coef, whole.iterations.coef)


def test_samples_of_parts_make_one_problem():
    def piece(streams, sizes, pinned, first):
        n = int(np.sum(sizes)) + len(pinned)
        X = np.arange(first, first + n, dtype=float)[:, None]
        return SampledBlocks(
            np.array(streams), np.array(sizes), X, X[:, 0].copy(), np.array(pinned, dtype=int)
        )

    one, two = piece([7, 2], [2, 3], [9], 0.0), piece([4], [2], [1], 100.0)
    problem, other = put_together([one, two]), put_together([two, one])
    assert problem.y.tolist() == [2, 3, 4, 100, 101, 0, 1, 102, 5]
    assert problem.starts.tolist() == [0, 3, 5, 7]
    assert np.array_equal(problem.y, other.y)
    assert np.array_equal(problem.X, other.X)
