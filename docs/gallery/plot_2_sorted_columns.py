"""
Never sort both columns
=======================

Two unrelated columns, each sorted, give a perfect line. The verdict of a fit to the same columns
rejects it.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from unshuffle import ShuffledRegressor, UnidentifiableWarning

rng = np.random.default_rng(0)
x, y = rng.normal(size=100), rng.normal(size=100)

figure, axes = plt.subplots(1, 2, figsize=(8, 3.8), sharey=True, layout="constrained")
for axis, pair, title in zip(
    axes, ((x, y), (np.sort(x), np.sort(y))), ("as they are", "each sorted"), strict=True
):
    axis.scatter(*pair, s=22, color="#0072b2", edgecolor="white", linewidth=0.5)
    axis.set_title(f"{title}: correlation {np.corrcoef(*pair)[0, 1]:.2f}")
    axis.set_xlabel("x")
    axis.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("y")

# %%
# Sorting picks the pairing of highest correlation among all there are, so its correlation is no
# evidence. `ShuffledRegressor` tests whether unrelated labels can be matched as well. They can:

with warnings.catch_warnings():
    warnings.simplefilter("ignore", UnidentifiableWarning)  # the verdict says it
    model = ShuffledRegressor(pairing="lost", random_state=0).fit(x[:, None], y)
for reason in model.verdict_.reasons:
    print(f"{reason.level:8s} {reason.text}")
