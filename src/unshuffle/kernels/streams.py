"""Every random stream of the package: which numbers belong to whom.

A fit draws one seed of 63 bits (`random_state`). All else is a function of that seed and of
numbers, so that neither threads nor the cut of the work change a result. There are three kinds of
streams:

- **Chains over permutations** read ``stream_key(seed, number, block)`` (`kernels.rng`). Iterations
  of EM have the numbers 0, 1, ...; its last runs and its snapshots count on from there. What is
  computed later from a finished fit starts at a range of its own, listed below. The ranges are a
  million apart, and no fit makes a million iterations.
- **Shuffles of labels** (restarts, order test, search) have the keys of chains, with the number of
  the shuffle. Sweeps scramble the key once more (`strides.sweep_key`), so they do not read the same
  bits; chains of random pairs would, but no fit uses both.
- **NumPy's generators**, in searches and bootstrap: `numbered_generator(seed, number)`, with ranges
  of their own. A posterior keys its chains by (seed, chain). The noise of a fit's first permutation
  (`alignment.carry`) comes from the seed alone, which NumPy takes for chain 0: where a posterior is
  drawn with the seed of the fit these two share draws; of
  those the fit used only some, for a start that its chain forgets.

Searches for other labels run under seeds next to that of the fit: `null_seed` and `refit_seed`.
These share starting points with each other and with the search of the fit, which is harmless, since
they are applied to different labels.
"""

import numpy as np

# Numbers of chains over permutations, after those of the iterations.
FIRST_PARTNERS = 1_000_000  # snapshots that count which labels a row holds
FIRST_SANDWICH = 2_000_000  # expectations for the robust covariance
FIRST_INFLATED = 3_000_000  # EM steps with the noise inflated
FIRST_BRIDGE = 4_000_000  # densities of labels in lost order (NumPy's generators too)
FIRST_LAW = 5_000_000  # EM with another law of the noise than the normal one
FIRST_LAW_WALK = 6_000_000  # snapshots at its end
FIRST_LAW_PATH = 7_000_000  # comparison of the likelihoods of two laws

# Numbers of NumPy's generators.
FIRST_ROUND = 0  # rounds of a search
FIRST_NULL = 1_000_000  # unrelated labels of the null distribution
FIRST_REFIT = 2_000_000  # labels simulated from a fit, to be searched again
FIRST_REPLICATE = 3_000_000  # replicates of the bootstrap
FIRST_FOLD = 5_000_000  # groups in folds
OTHER_PLANES = 6_000_000  # planes of other rows, where labels are aligned around a curve

# Added to the key of a block: the noise with which its chain starts, apart from the chain's steps.
START_NOISE_KEY = np.uint64(0xD1B54A32D192ED03)

# Last entry of the key of a posterior's initial values. Chains are keyed by (seed, chain), which
# NumPy extends by zeros: another number keeps the two apart.
POSTERIOR_STARTS = 1


def numbered_generator(seed: int, number: int) -> np.random.Generator:
    """NumPy's counter-based generator for stream `number` of a seed."""
    return np.random.Generator(np.random.Philox(key=[seed, number]))


def null_seed(seed: int, number: int) -> int:
    """Seed of the search for the unrelated labels `number`."""
    return seed + number + 1


def refit_seed(seed: int, number: int) -> int:
    """Seed of the search for the simulated labels `number`."""
    return seed + number
