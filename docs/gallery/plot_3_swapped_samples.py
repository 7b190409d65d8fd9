"""
Which samples were swapped?
===========================

A plate of 96 wells on which two pairs of results changed places. If results can be predicted from
the samples, a fit that assumes a mostly right order lists the suspects and their partners.
"""

import matplotlib.pyplot as plt
import numpy as np

from unshuffle import StochasticEMRegressor

rng = np.random.default_rng(3)
X = rng.normal(size=(96, 4))
y = X @ [1.0, -2.0, 0.5, 1.5] + 0.2 * rng.normal(size=96)
swapped = [(7, 40), (52, 86)]
for i, j in swapped:
    y[[i, j]] = y[[j, i]]

model = StochasticEMRegressor(mismatch_rate="estimate", random_state=0).fit(X, y)
print(model.suspects(n_partners=1).round(2))

# %%
# A swap shows as two suspects that name each other. On the plate, dark wells probably do not hold
# their own result; lines join those that were swapped.

figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained")
image = axis.pcolormesh(
    model.match_proba_.reshape(8, 12), cmap="cividis", vmin=0, vmax=1, edgecolors="white", lw=1.5
)
for pair in swapped:
    rows, columns = np.divmod(pair, 12)
    axis.plot(columns + 0.5, rows + 0.5, "o-", color="#d55e00", mfc="none", ms=13, lw=2)
axis.set_xticks(np.arange(12) + 0.5, range(1, 13))
axis.set_yticks(np.arange(8) + 0.5, "ABCDEFGH")
axis.tick_params(length=0)
axis.invert_yaxis()
axis.set_aspect("equal")
axis.spines[:].set_visible(False)
figure.colorbar(image, label="match probability", shrink=0.8)
