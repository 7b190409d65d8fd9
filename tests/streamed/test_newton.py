"""Fits over parts that begin on a sample of blocks: one answer for any cut, sooner than by EM."""

import numpy as np
import pytest

from unshuffle import StochasticEMRegressor
from unshuffle.em import sample as sample_fit
from unshuffle.estimators.streaming import Streaming
from unshuffle.fits import streamed_start as beginning

COEF = np.array([1.0, -2.0])


@pytest.fixture(autouse=True)
def small_samples(monkeypatch):
    for name, value in (("FEWEST_ROWS", 3_000), ("FEWEST_GROUPS", 100)):
        monkeypatch.setattr(sample_fit, name, value)
    monkeypatch.setattr(beginning, "SAMPLE_ROWS", 2_500)


def shuffled(n=6_000, size=30):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    y = X @ COEF + 0.5 * rng.normal(size=n)
    known = np.arange(n) % 97 == 0
    for first in range(0, n, size):
        rows = first + np.flatnonzero(~known[first : first + size])
        y[rows] = y[rng.permutation(rows)]
    return X, y, np.repeat(np.arange(n // size), size), known


def fit(rows_per_part=1_000, max_iter=60, **settings):
    X, y, groups, known = shuffled()
    streaming = Streaming(rows_per_part=rows_per_part, **settings)
    model = StochasticEMRegressor(random_state=0, max_iter=max_iter, streaming=streaming)
    return model.fit(X, y, groups=groups, known=known)


def test_the_cut_does_not_matter():
    one, many = fit(rows_per_part=10_000), fit(rows_per_part=700)
    assert one.converged_
    assert np.array_equal(one.coef_path_, many.coef_path_)
    assert np.array_equal(one.standard_errors_, many.standard_errors_)


def test_ends_where_em_ends(monkeypatch):
    fast = fit()
    monkeypatch.setattr(sample_fit, "FEWEST_ROWS", 10**9)
    plain = fit(max_iter=300)
    assert fast.n_iter_ < plain.n_iter_
    errors = plain.standard_errors_
    assert np.abs((fast.coef_ - plain.coef_) / errors[1:]).max() < 1.0  # both carry chance
    assert np.abs(fast.coef_ - COEF).max() < 4.5 * errors.max()


def test_an_interrupted_fit_goes_on_along_the_same_path(tmp_path):
    whole = fit()
    path = tmp_path / "fit.npz"
    with pytest.warns(UserWarning, match="converge"):
        fit(max_iter=6, checkpoint=path, checkpoint_every=3)
    resumed = fit(checkpoint=path, resume=True)
    assert np.array_equal(resumed.coef_path_, whole.coef_path_)


def test_samples_of_parts_make_one_problem():
    def piece(streams, sizes, pinned, first):
        n = int(np.sum(sizes)) + len(pinned)
        X = np.arange(first, first + n, dtype=float)[:, None]
        return beginning.SampledBlocks(
            np.array(streams), np.array(sizes), X, X[:, 0].copy(), np.array(pinned, dtype=int)
        )

    one, two = piece([7, 2], [2, 3], [9], 0.0), piece([4], [2], [1], 100.0)
    problem, other = beginning.put_together([one, two]), beginning.put_together([two, one])
    assert problem.y.tolist() == [2, 3, 4, 100, 101, 0, 1, 102, 5]
    assert problem.starts.tolist() == [0, 3, 5, 7]
    assert np.array_equal(problem.y, other.y)
    assert np.array_equal(problem.X, other.X)
