"""Standard errors of a mixture against the curvature of its likelihood, and what is said of them."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm
from sklearn.exceptions import NotFittedError

from unshuffle import HardEMRegressor, MixtureRegressor, compare
from unshuffle.alignment.density import kernel_density
from unshuffle.datasets import make_shuffled_regression
from unshuffle.families.least_squares import LeastSquares
from unshuffle.families.match_logit import make_match_logit
from unshuffle.families.noise import STANDARD_NORMAL
from unshuffle.fits.mixture_errors import WITHOUT_RIDGE, _held
from unshuffle.inference.mixture_information import (
    MixturePoint,
    mixture_information,
    mixture_scores,
)
from unshuffle.kernels.noise import NoiseLaw

DATA = make_shuffled_regression(300, 2, noise=0.3, shuffle="fraction", fraction=0.2, random_state=1)
LIMITS = {"tol": 1e-14, "max_iter": 5000}
KNOWN = DATA.permutation == np.arange(300)
KNOWN[100:] = False
PROB = np.random.default_rng(1).uniform(0.5, 0.95, 300)


def hessian(f, x, step=1e-4):
    size = len(x)
    steps = step * np.eye(size)
    return np.array(
        [
            [f(x + a + b) - f(x + a - b) - f(x - a + b) + f(x - a - b) for b in steps]
            for a in steps
        ]
    ) / (4.0 * step**2)  # fmt: skip


def covariance_of(model, given=None, known=None):
    """Of intercept, coefficients, log noise and, where none is given, the logit of own labels."""
    density = kernel_density(DATA.y)
    known = np.zeros(300, dtype=bool) if known is None else known

    def level(theta):
        p = np.where(known, 1.0, expit(theta[4]) if given is None else given)
        own = norm.pdf(DATA.y, theta[0] + DATA.X @ theta[1:3], np.exp(theta[3]))
        return np.log(p * own + (1.0 - p) * density).sum()

    rate = model.mismatch_rate_
    theta = np.array([model.intercept_, *model.coef_, np.log(model.noise_scale_)])
    if given is None:
        theta = np.append(theta, np.log((1.0 - rate) / rate))
    return np.linalg.inv(-hessian(level, theta))


@pytest.mark.parametrize(
    ("rate", "given", "known"),
    [("estimate", None, None), ("estimate", None, KNOWN), (0.3, 0.7, None), (0.3, 0.7, KNOWN),
     ("estimate", PROB, KNOWN)],
    ids=["estimated", "estimated, known", "fixed", "fixed, known", "given by row"],
)  # fmt: skip
def test_standard_errors_are_those_of_the_likelihood(rate, given, known):
    model = MixtureRegressor(mismatch_rate=rate, **LIMITS)
    model.fit(DATA.X, DATA.y, known, given if isinstance(given, np.ndarray) else None)
    expected = covariance_of(model, given, known)
    assert model.covariance() == pytest.approx(expected[:3, :3], rel=2e-3, abs=1e-8)
    assert model.noise_scale_se_ == pytest.approx(
        model.noise_scale_ * expected[3, 3] ** 0.5, rel=2e-3
    )
    if given is None:
        spread = model.mismatch_rate_ * (1.0 - model.mismatch_rate_)
        assert model.mismatch_rate_se_ == pytest.approx(spread * expected[4, 4] ** 0.5, rel=2e-3)
    else:
        assert np.isnan(model.mismatch_rate_se_)


def test_intervals_and_summary_have_the_same_numbers():
    model = MixtureRegressor().fit(DATA.X, DATA.y)
    ends = model.conf_int(0.9)
    values = np.append(model.intercept_, model.coef_)
    assert ends.mean(axis=1) == pytest.approx(values)
    assert (ends[:, 0] < values - model.standard_errors_).all()
    summary = model.summary(0.9)
    assert np.array_equal(summary.ours.values, values)
    assert np.array_equal(summary.ours.interval(0.9), ends)
    assert len(summary.to_frame()) == 3
    text = str(model.summary())
    assert "as given" in text
    assert f"mismatched: {model.mismatch_rate_:.1%} (se " in text
    low, high = model.mismatch_rate_interval()
    assert 0.0 < low < model.mismatch_rate_ < high < 1.0
    low, high = model.noise_scale_interval()
    assert low < model.noise_scale_ < high
    predicted, around = model.predict(DATA.X[:5], interval=0.9)
    assert (around[:, 0] < predicted).all()
    assert (predicted < around[:, 1]).all()


def test_least_squares_where_nothing_is_mismatched():
    """The rate ends at its bound, where it has no curvature; the others are those of OLS."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = X @ [1.0, 2.0] + 0.01 * rng.uniform(-1.0, 1.0, 400)  # no tails to mistake for mismatches
    model = MixtureRegressor().fit(X, y)
    design = np.column_stack([np.ones(400), X])
    expected = model.noise_scale_**2 * np.linalg.inv(design.T @ design)
    assert model.mismatch_rate_ < 1e-3
    assert model.covariance_ == pytest.approx(expected, rel=0.02, abs=1e-12)


def test_fits_without_intercept_and_with_clues():
    model = MixtureRegressor(fit_intercept=False).fit(DATA.X, DATA.y)
    assert model.conf_int().shape == (2, 2)
    clued = MixtureRegressor().fit(DATA.X, DATA.y, match_features={"a": PROB})
    assert clued.summary().match_model is clued.match_model_
    assert np.isfinite(clued.predict(DATA.X[:2], interval=0.9)[1]).all()
    with pytest.raises(ValueError, match="without match_prob and match_features"):
        clued.mismatch_rate_interval()


@pytest.mark.parametrize("given", [None, 0.8])
def test_information_under_a_law_is_the_curvature_of_the_likelihood(given):
    """At any point, with a skewed law; scores of rows are the gradient."""
    law = NoiseLaw(np.array([0.5, 0.3, 0.2]), np.array([-0.2, 0.1, 0.4]), np.array([0.2, 0.5, 1.0]))
    solver, density = LeastSquares(DATA.X, fit_intercept=True), kernel_density(DATA.y)
    basis = np.column_stack([np.full(300, 300**-0.5), solver.basis()])
    start = np.append(basis.T @ DATA.y, [0.1, 0.5][: 1 + (given is None)])

    def residual(theta):
        return DATA.y - basis @ theta[:3]

    def level(theta):
        p = expit(theta[4]) if given is None else given
        u = residual(theta)[:, None] / np.exp(theta[3])
        own = (law.weights * norm.pdf(u, law.means, law.scales)).sum(axis=1) / np.exp(theta[3])
        return np.log(p * own + (1.0 - p) * density).sum()

    none, nobody = np.empty((300, 0)), np.zeros(300, dtype=bool)
    logit = _held(given, nobody)
    if given is None:
        logit = make_match_logit(
            none, match_prob=None, movable=~nobody, largest_rate=None, settings=WITHOUT_RIDGE
        )
    point = MixturePoint(residual(start), np.exp(start[3]), density, start[4:], law)
    expected = -hessian(level, start)
    found = mixture_information(solver, point, logit)
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-3)
    steps = 1e-5 * np.eye(len(start))
    gradient = [(level(start + s) - level(start - s)) / 2e-5 for s in steps]
    scores = mixture_scores(solver, point, logit)
    assert scores.sum(axis=0) == pytest.approx(gradient, rel=1e-5, abs=1e-4)
    # The control: normal noise of the same scale has another curvature.
    plain = mixture_information(solver, point._replace(law=STANDARD_NORMAL), logit)
    assert np.abs(plain - expected).max() > 10.0


def test_what_cannot_be_had_is_named():
    with pytest.raises(NotFittedError):
        MixtureRegressor().conf_int()
    model = MixtureRegressor().fit(DATA.X, DATA.y)
    with pytest.raises(ValueError, match="method must be 'auto' or 'information'"):
        model.conf_int(method="sandwich")
    with pytest.raises(ValueError, match="covariance must be 'auto' or 'model'"):
        model.summary(covariance="robust")
    both = compare(model, HardEMRegressor(random_state=0).fit(DATA.X, DATA.y))
    assert np.isfinite(both.standard_errors[:, 0]).all()
    assert np.isnan(both.standard_errors[:, 1]).all()
