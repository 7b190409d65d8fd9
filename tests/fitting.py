"""Short fits, also by the functions of `unshuffle.fits` with settings that users do not see."""

import numpy as np

from unshuffle.data.groups import encode_groups
from unshuffle.data.local import LocalParts, slice_array
from unshuffle.data.problem import make_problem
from unshuffle.data.threads import Workers
from unshuffle.fits.checkpoint import NO_CHECKPOINT
from unshuffle.fits.data import InMemory, InPasses
from unshuffle.fits.settings import StochasticSettings
from unshuffle.fits.stochastic import fit_stochastic

SHORT = {"max_iter": 6, "tol": 0, "random_state": 0}


def in_memory(X, y, groups=None, known=None, n_jobs=1, **settings):
    """A `StochasticFit` to a table in memory."""
    known = np.zeros(len(y), dtype=bool) if known is None else known
    problem = make_problem(X, y, encode_groups(groups, len(y)), known)
    with Workers(n_jobs) as workers:
        return fit_stochastic(InMemory(problem, workers), StochasticSettings(0, **settings))


def in_passes(
    X, y, groups=None, known=None, rows_per_part=1_000, checkpoint=NO_CHECKPOINT, **settings
):
    """A `StochasticFit` to the same table, read in passes."""
    known = np.zeros(len(y), dtype=bool) if known is None else known
    parts = slice_array(X, y, encode_groups(groups, len(y)), known, rows_per_part)
    with Workers(1) as workers:
        data = InPasses(LocalParts(parts, workers), checkpoint)
        return fit_stochastic(data, StochasticSettings(0, **settings))


def same_fit(one, other):
    """Whether two fits agree to the last bit."""
    names = [n for n in vars(one) if n.endswith("_") and n != "feature_names_in_"]
    assert {"coef_", "noise_scale_", "covariance_", "coef_path_"} <= set(names)
    pairs = [(getattr(one, name), getattr(other, name)) for name in names]
    return all(np.array_equal(a, b, equal_nan=not isinstance(a, str)) for a, b in pairs)
