"""
Are match probabilities right?
==============================

A fifth of two thousand labels belong to another row. `match_proba_` is the probability of each row
that its label is its own. Where the truth is known, this can be checked.
"""

import numpy as np

from unshuffle import StochasticEMRegressor, plots
from unshuffle.datasets import make_shuffled_regression

data = make_shuffled_regression(
    2000, 5, noise=0.5, shuffle="fraction", fraction=0.2, random_state=0
)
model = StochasticEMRegressor(mismatch_rate="estimate", random_state=0).fit(data.X, data.y)
own = data.permutation == np.arange(2000)
print(f"mismatched: {np.mean(~own):.3f} in truth, {model.mismatch_rate_:.3f} estimated")

# %%
# Of the rows with probability p, a share of p should hold their own label: the points should lie on
# the dashed line.

plots.MatchCalibrationDisplay.from_estimator(model, own)
