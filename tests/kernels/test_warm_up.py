import numpy as np
import pytest

import unshuffle
from unshuffle.datasets import make_shuffled_regression
from unshuffle.kernels import collapsed, hard_em, local, match, ranking, rng, swap


def compiled_signatures():
    return {
        (module.__name__, name): len(function.signatures)
        for module in (rng, swap, local, match, ranking, hard_em, collapsed)
        for name, function in vars(module).items()
        if hasattr(function, "signatures")
    }


def test_warm_up_compiles_all_that_fits_need():
    unshuffle.warm_up()
    before = compiled_signatures()
    assert before
    data = make_shuffled_regression(60, 2, shuffle="groups", random_state=0)
    known = np.arange(60) < 3
    for variant in ("exact", "published"):
        model = unshuffle.StochasticEMRegressor(variant=variant, tol=0, max_iter=2, random_state=0)
        model.fit(data.X, data.y, groups=data.groups, known=known)
    model = unshuffle.StochasticEMRegressor(mismatch_rate=0.2, max_shift=9, tol=0, max_iter=2)
    model.fit(data.X, data.y, groups=data.groups, known=known)
    with pytest.warns(unshuffle.MixingWarning):
        unshuffle.StochasticEMRegressor(max_iter=2, tol=0).fit(
            data.X, data.y, groups=data.groups
        ).posterior(n_chains=1, n_draws=4, n_warmup=4)
    unshuffle.HardEMRegressor(n_init=3, random_state=0).fit(data.X, data.y, groups=data.groups)
    assert compiled_signatures() == before
