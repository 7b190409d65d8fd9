"""Simulation-based calibration: ranks of the truth stay in the band; wrong samplers leave it."""

import pytest
from benchmarks.calibration import CALIBRATION, CASES, calibration_ranks, rank_p_value

from unshuffle.inference.posterior_chain import PosteriorChain

pytestmark = pytest.mark.long


class Sure(PosteriorChain):
    """Wrong: takes the labels as given for right."""

    def __init__(self, *arguments, **settings):
        super().__init__(*arguments, **settings | {"moves": frozenset()})


class Doubled(PosteriorChain):
    """Wrong: counts the degrees of freedom twice, which halves the variance of the noise."""

    def _draw_noise(self):
        super()._draw_noise()
        self.noise *= 0.5**0.5


class Ignorant(PosteriorChain):
    """Wrong: the rate forgets the normaliser of the prior over permutations."""

    def __init__(self, model, *arguments, **settings):
        super().__init__(model, *arguments, **settings)
        if model.rates is not None:
            model.rates.log_normaliser = lambda logit: 0.0


def p_values(name, n_sets, seed, kind=PosteriorChain):
    ranks = calibration_ranks(CASES[name], n_sets, seed, kind=kind)
    return {quantity: rank_p_value(r, CALIBRATION.draws) for quantity, r in ranks.items()}


@pytest.mark.parametrize("name", CASES)
def test_calibrated(name):
    found = p_values(name, 50, seed=11)
    assert len(found) == 4 + (name == "mostly right")
    # 1 % among nine quantities, after Bonferroni.
    assert min(found.values()) > 0.01 / 9, found


@pytest.mark.parametrize(
    ("name", "kind", "quantity"),
    [
        ("groups of 5", Sure, "coef 0"),
        ("groups of 5", Doubled, "noise"),
        ("mostly right", Ignorant, "rate"),
    ],
)
def test_wrong_samplers_are_seen(name, kind, quantity):
    """The controls: half as many sets are enough to see them."""
    assert p_values(name, 25, seed=11, kind=kind)[quantity] < 0.01 / 9


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", CASES)
def test_calibrated_on_500_sets(name):
    found = p_values(name, 500, seed=12)
    assert min(found.values()) > 0.05, found
