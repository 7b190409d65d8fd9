"""How fits to mostly right pairings start and end."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from fitting import in_memory
from unshuffle import StochasticEMRegressor
from unshuffle.alignment.priors import Prior
from unshuffle.data.problem import make_problem
from unshuffle.datasets import make_shuffled_regression
from unshuffle.em.scores import Snapshots
from unshuffle.em.settings import EMSettings, FinalSettings
from unshuffle.families.least_squares import LeastSquares
from unshuffle.fits.finish import MemoryFinish
from unshuffle.search.mostly_right import mostly_right_start, typical_permutation

N, NOISE, RATE = 4_000, 0.5, 0.25


@pytest.fixture(scope="module")
def data():
    return make_shuffled_regression(
        N, 3, noise=NOISE, shuffle="fraction", fraction=RATE, random_state=0
    )


def test_the_start_is_near_a_draw_from_the_posterior(data):
    problem = make_problem(data.X, data.y, np.zeros(N, dtype=int), np.zeros(N, dtype=bool))
    solver = LeastSquares(problem.X, fit_intercept=True)
    state = mostly_right_start(problem, solver, Prior(0.1, True), None, 0)
    away = state.perm != np.arange(N)
    assert np.mean(away) == pytest.approx(RATE, abs=0.03)
    energy = np.mean((problem.y[state.perm] - state.fitted)[away] ** 2)
    assert 0.8 * NOISE**2 < energy < 1.3 * NOISE**2
    # The control: sorted without noise they would lie much too near.
    quiet = state._replace(noise_scale=0.0)
    perm = typical_permutation(problem, quiet, 0)
    assert np.mean((problem.y[perm] - state.fitted)[away] ** 2) < 0.5 * NOISE**2
    other = mostly_right_start(problem, solver, Prior(0.1, True), None, 1)
    assert not np.array_equal(other.perm, state.perm)


@pytest.mark.long
def test_coefficients_are_least_squares_on_the_expected_labels(data):
    model = StochasticEMRegressor(mismatch_rate="estimate", random_state=0).fit(data.X, data.y)
    ends = LinearRegression().fit(data.X, model.expected_labels_)
    np.testing.assert_allclose(model.coef_, ends.coef_, rtol=1e-9)
    assert model.intercept_ == pytest.approx(ends.intercept_)
    # A permutation keeps the sum of squares, so that averaging hides what is missing from it.
    expected, centre = model.expected_labels_, data.y.mean()
    hidden = np.sum((data.y - centre) ** 2) - np.sum((expected - centre) ** 2)
    squares = np.sum((expected - ends.predict(data.X)) ** 2) + hidden
    assert model.noise_scale_ == pytest.approx(np.sqrt(squares / (N - 4)), rel=1e-9)


@pytest.mark.long
def test_doubtful_information_makes_the_chain_continue(data, monkeypatch):
    streams, walk = [], MemoryFinish._walk

    def counted(self, state, stream, *args, **kwargs):
        streams.append(stream)
        return walk(self, state, stream, *args, **kwargs)

    monkeypatch.setattr(MemoryFinish, "_walk", counted)
    once = in_memory(data.X, data.y, mismatch_rate="estimate")
    assert len(streams) == 1
    doubtful = EMSettings(final=FinalSettings(doubtful=np.inf))
    again = in_memory(data.X, data.y, mismatch_rate="estimate", em=doubtful)
    assert len(set(streams[1:])) == doubtful.final.most_walks  # each with draws of its own
    kept = once.uncertainty.fraction_kept
    assert again.uncertainty.fraction_kept != kept
    assert again.uncertainty.fraction_kept == pytest.approx(kept, abs=0.3)


def test_two_walks_are_averaged_by_their_lengths():
    one = Snapshots(np.zeros((3, 1, 2)), np.zeros(2), np.ones(2))
    other = Snapshots(np.ones((1, 1, 2)), np.full(2, 4.0), np.zeros(2))
    both = one.merged(other)
    assert both.scores[:, 0, 0].tolist() == [0.0, 0.0, 0.0, 1.0]
    assert both.expected.tolist() == [1.0, 1.0]
    assert both.match_proba.tolist() == [0.75, 0.75]
    assert one.merged(Snapshots(other.scores)).expected is None
