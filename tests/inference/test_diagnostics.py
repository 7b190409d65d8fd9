"""R-hat, effective sample sizes and bands, beside ArviZ and closed forms."""

import numpy as np
import pytest
from benchmarks.calibration import rank_p_value

from unshuffle.inference.diagnostics import ess_bulk, ess_tail, r_hat


def autoregressive(phi, shape, seed=0):
    rng = np.random.default_rng(seed)
    draws = np.empty(shape)
    draws[:, 0] = rng.normal(size=shape[0])
    for k in range(1, shape[1]):
        draws[:, k] = phi * draws[:, k - 1] + np.sqrt(1 - phi**2) * rng.normal(size=shape[0])
    return draws


CHAINS = {
    "independent": autoregressive(0.0, (4, 500)),
    "slow": autoregressive(0.9, (4, 1001)),
    "antithetic": autoregressive(-0.5, (2, 400)),
    "apart": autoregressive(0.3, (4, 300)) + np.arange(4)[:, None],
    "wider": autoregressive(0.3, (3, 300)) * np.array([[1.0], [2.0], [4.0]]),
    "heavy": np.random.default_rng(1).standard_cauchy((4, 250)),
    "one chain": autoregressive(0.5, (1, 600)),
    "ties": np.round(autoregressive(0.5, (4, 400))),
}


@pytest.mark.parametrize("name", CHAINS)
def test_diagnostics_are_those_of_arviz(name):
    with np.errstate(all="ignore"):
        arviz = pytest.importorskip("arviz")
    chains = CHAINS[name]
    if len(chains) > 1:  # arviz has no R-hat of one chain
        assert r_hat(chains) == pytest.approx(float(arviz.rhat(chains)), rel=1e-6)
    assert ess_bulk(chains) == pytest.approx(float(arviz.ess(chains, method="bulk")), rel=1e-6)
    assert ess_tail(chains) == pytest.approx(float(arviz.ess(chains, method="tail")), rel=1e-6)


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_effective_sizes_of_an_autoregression(phi):
    sizes = [ess_bulk(autoregressive(phi, (4, 2000), seed)) for seed in range(20)]
    truth = 8000 * (1 - phi) / (1 + phi)
    assert np.mean(sizes) == pytest.approx(truth, rel=0.12)


def test_r_hat_sees_place_scale_and_drift():
    good = autoregressive(0.0, (4, 1000))
    assert r_hat(good) < 1.01
    assert r_hat(good + np.array([[0], [0], [0], [1]])) > 1.1
    assert r_hat(good * np.array([[1], [1], [1], [3]])) > 1.1
    assert r_hat(good + np.linspace(0, 2, 1000)) > 1.1


def test_chains_that_never_move():
    assert np.isnan(r_hat(np.ones((4, 10))))
    assert np.isnan(ess_bulk(np.ones((4, 10))))
    assert r_hat(np.repeat([[0.0], [1.0]], 10, axis=1)) == np.inf
    with pytest.raises(ValueError, match=r"at least 4 draws"):
        r_hat(np.ones((4, 3)))


@pytest.mark.long
def test_band_holds_for_uniform_ranks_and_not_for_others():
    rng = np.random.default_rng(0)
    outside = [
        rank_p_value(rng.integers(0, 20, size=100), 19, 99, seed) <= 0.05 for seed in range(80)
    ]
    error = np.sqrt(0.05 * 0.95 / 80)
    assert 0.0 < np.mean(outside) < 0.05 + 4.5 * error
    assert rank_p_value(rng.binomial(19, 0.5, size=100), 19) < 0.01  # too wide a posterior
    assert rank_p_value(rng.choice([0, 19], size=100), 19) < 0.01  # too narrow
    assert rank_p_value(rng.integers(0, 15, size=100), 19) < 0.01  # biased
