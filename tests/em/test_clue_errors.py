"""Standard errors of a match model: how long the chain is followed for them."""

import numpy as np
import pytest

from unshuffle import StochasticEMRegressor
from unshuffle.em.settings import DEFAULTS
from unshuffle.fits.finish import MemoryFinish


@pytest.mark.parametrize("with_clues", [True, False])
def test_little_information_about_clues_is_kept_so_that_all_walks_are_made(with_clues, monkeypatch):
    rng = np.random.default_rng(0)
    X, clue = rng.normal(size=(200, 2)), rng.normal(size=(200, 1))
    y = X @ [1.0, -1.0] + 0.5 * rng.normal(size=200)
    away = np.flatnonzero(rng.random(200) > 1 / (1 + np.exp(-1.5 - clue[:, 0])))
    y[away] = y[np.roll(away, 1)]
    walks, walk = [], MemoryFinish._walk

    def counted(self, *arguments, **more):
        walks.append(len(arguments))
        return walk(self, *arguments, **more)

    monkeypatch.setattr(MemoryFinish, "_walk", counted)
    model = StochasticEMRegressor(mismatch_rate="estimate", random_state=0, max_iter=30)
    model.fit(X, y, match_features=clue if with_clues else None)
    assert len(walks) == (DEFAULTS.final.most_walks if with_clues else 1)
