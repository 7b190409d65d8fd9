"""Sinkhorn scaling on a grid against the dense matrix."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from unshuffle import StochasticEMRegressor
from unshuffle.alignment.grid import GridKernel
from unshuffle.alignment.priors import Prior
from unshuffle.alignment.settings import GridSettings, SinkhornSettings
from unshuffle.alignment.sinkhorn import SinkhornAlignment
from unshuffle.alignment.state import State
from unshuffle.data.problem import Problem
from unshuffle.datasets import make_shuffled_regression
from unshuffle.metrics import coefficient_error

N = 1_000


def setting(noise, rate, outlier=False):
    rng = np.random.default_rng(1)
    mu = rng.normal(size=N)
    y = mu + noise * rng.normal(size=N)
    moved = rng.permutation(N)[: int((rate or 1.0) * N)]
    y[moved] = y[rng.permutation(moved)]
    if outlier:
        y[3], mu[5] = 12.0, -11.0
    problem = Problem(np.empty((N + 2, 0)), np.append(y, [0.0, 1.0]), np.array([0, N]), None, 3)
    fitted = np.append(mu, [0.0, 1.0])
    state = State(np.empty(0), 0.0, noise, 0.0, rate or 0, fitted, problem.y, np.arange(N + 2))
    return problem, state, Prior(rate) if rate else Prior()


def difference(noise, rate, outlier=False, nodes_per_noise=24):
    """Largest difference of expected labels, in units of the noise, and of probabilities."""
    problem, state, prior = setting(noise, rate, outlier)
    on_grid, dense = (
        SinkhornAlignment(
            problem, prior,
            settings=SinkhornSettings(
                tolerance=1e-6, smallest_grid_block=smallest,
                grid=GridSettings(nodes_per_noise=nodes_per_noise),
            ),
        )(state, 0)
        for smallest in (N, 10 * N)
    )  # fmt: skip
    assert np.array_equal(on_grid.expected[N:], problem.y[N:])
    probabilities = np.abs(on_grid.match_proba - dense.match_proba).max()
    return max(np.abs(on_grid.expected - dense.expected).max() / noise, probabilities)


@pytest.mark.long
@pytest.mark.parametrize(("noise", "rate"), [(0.6, None), (0.3, 0.2)])
def test_the_grid_is_as_good_as_the_dense_matrix(noise, rate):
    assert difference(noise, rate) < 1e-3


def test_outliers_do_not_vanish():
    assert difference(0.6, 0.3, outlier=True) < 1e-3


@pytest.mark.long
def test_a_coarse_grid_is_caught():
    assert difference(0.3, 0.2, nodes_per_noise=3) > 1e-3


def test_products_match_the_matrix():
    rng = np.random.default_rng(0)
    mu, y, values = rng.normal(size=(3, 400))
    kernel = GridKernel(mu, y, 0.2, GridSettings())
    dense = np.exp(-0.5 * ((mu[:, None] - y) / 0.2) ** 2)
    np.testing.assert_allclose(kernel.rows(values**2), dense @ values**2, rtol=2e-3)
    np.testing.assert_allclose(kernel.labels(values**2), dense.T @ values**2, rtol=2e-3)


def test_large_groups_need_no_matrix():
    data = make_shuffled_regression(
        6_000, 3, noise=0.5, shuffle="fraction", fraction=0.3, random_state=0
    )
    model = StochasticEMRegressor(alignment="sinkhorn", mismatch_rate="estimate", random_state=0)
    model.fit(data.X, data.y)
    ols = LinearRegression().fit(data.X, data.y)
    ours = coefficient_error(model.coef_, data.coef)
    assert ours < 0.3 * coefficient_error(ols.coef_, data.coef)


def test_too_little_noise_is_named():
    problem, state, prior = setting(0.3, None)
    state = state._replace(noise_scale=1e-9)
    align = SinkhornAlignment(problem, prior, settings=SinkhornSettings(largest_dense_block=10))
    with pytest.raises(ValueError, match="needs more noise than 1e-09 for a group of 1000"):
        align(state, 0)
