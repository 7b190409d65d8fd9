import numpy as np

from unshuffle.kernels import streams

CHAINS = (
    "FIRST_PARTNERS",
    "FIRST_SANDWICH",
    "FIRST_INFLATED",
    "FIRST_BRIDGE",
    "FIRST_LAW",
    "FIRST_LAW_WALK",
    "FIRST_LAW_PATH",
)
GENERATORS = ("FIRST_ROUND", "FIRST_NULL", "FIRST_REFIT", "FIRST_REPLICATE", "FIRST_FOLD")


def test_ranges_of_numbers_are_far_apart():
    for names in (("FIRST_ITERATION", *CHAINS), GENERATORS):
        first = sorted(getattr(streams, name, 0) for name in names)
        assert np.diff(first).min() >= 1_000_000


def test_every_range_belongs_to_a_kind_of_stream():
    assert {n for n in vars(streams) if n.startswith("FIRST_")} == {*CHAINS, *GENERATORS}


def test_numbers_and_seeds_make_different_streams():
    draws = {
        streams.numbered_generator(seed, number).random() for seed in (1, 2) for number in (0, 1)
    }
    assert len(draws) == 4
    again = streams.numbered_generator(1, 0).random()
    assert again in draws


def test_posterior_chains_and_their_initial_values_differ():
    seed = 5
    chains = [np.random.default_rng(np.random.SeedSequence((seed, k))).random() for k in range(4)]
    for n_chains in range(4):
        key = [seed, n_chains, streams.POSTERIOR_STARTS]
        assert np.random.default_rng(key).random() not in chains
    same = np.random.default_rng([seed, 3, 0]).random()  # what the last entry prevents
    assert same in chains
