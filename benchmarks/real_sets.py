"""Real data whose labels are shuffled inside zones or bins: splits shared by the benchmarks."""

import numpy as np

from unshuffle.datasets import KmerCounter, load_binding, load_boston
from unshuffle.datasets.simulated import cut_by_rank, shuffle_inside
from unshuffle.paper.gated import move_some
from unshuffle.paper.zones import unit_range


def housing(label, zones_by, n_zones):
    """Boston: features, labels and zones."""
    boston = load_boston()
    zones = cut_by_rank(boston.column(zones_by), n_zones)
    return boston.without(label), unit_range(boston.column(label)), zones


def microarray(n_bins, n_sequences=2000):
    """Binding microarray: k-mer counts, affinities, and bins of them with 1 % of rows misplaced."""
    binding, rng = load_binding(), np.random.RandomState(0)
    picked = rng.permutation(len(binding.affinity))[:n_sequences]
    X = KmerCounter(k_min=1, k_max=3).fit_transform(binding.sequences[picked])
    y = unit_range(binding.affinity[picked])
    return np.asarray(X, dtype=float), y, move_some(cut_by_rank(y, n_bins), 0.01, rng)


SETS = {
    "Boston LSTAT, 3 zones of MEDV": lambda: housing("LSTAT", "MEDV", 3),
    "Boston LSTAT, 4 zones of MEDV": lambda: housing("LSTAT", "MEDV", 4),
    "Boston MEDV, 3 zones of INDUS": lambda: housing("MEDV", "INDUS", 3),
    "Boston MEDV, 4 zones of INDUS": lambda: housing("MEDV", "INDUS", 4),
    "Microarray, 3 bins": lambda: microarray(3),
    "Microarray, 4 bins": lambda: microarray(4),
}


def splits(X, y, groups, n_splits):
    """Yield train features, shuffled labels, groups, ordered labels, test features and labels."""
    for split in range(n_splits):
        rows = np.random.RandomState([1, split]).permutation(len(y))
        test, train = rows[: len(y) // 5], rows[len(y) // 5 :]
        shuffled = y[train][shuffle_inside(np.random.RandomState([2, split]), groups[train])]
        yield X[train], shuffled, groups[train], y[train], X[test], y[test]


def rmse(model, X, y):
    """Root mean squared error of predictions."""
    return float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))
