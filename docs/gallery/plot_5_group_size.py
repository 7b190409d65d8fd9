"""
How small must groups be?
=========================

The same 360 rows, shuffled inside ever smaller groups. Few matchings are possible inside a
small group, and group means do not depend on the shuffle.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression

from unshuffle import ShuffledRegressor, UnidentifiableWarning
from unshuffle.datasets import make_shuffled_regression
from unshuffle.metrics import coefficient_error

numbers = [4, 12, 36, 90, 180]
errors = {"as given": [], "unshuffle": [], "order known": []}
levels, reasons = [], []
for n_groups in numbers:
    data = make_shuffled_regression(
        360, 4, noise=0.5, shuffle="groups", n_groups=n_groups, group_by="random",
        coef=[1.0, -1.0, 0.5, 0.0], random_state=0,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnidentifiableWarning)  # the verdict says it
        model = ShuffledRegressor(pairing="lost", n_candidates=2000, random_state=0)
        model.fit(data.X, data.y, groups=data.groups)
    levels.append(model.verdict_.level)
    reasons.append(model.verdict_.reasons[0].text)
    fits = {
        "as given": LinearRegression().fit(data.X, data.y),
        "unshuffle": model,
        "order known": LinearRegression().fit(data.X, data.y_ordered),
    }
    for name, fit in fits.items():
        errors[name].append(coefficient_error(fit.coef_, data.coef))

# %%
# The dotted line is the error of the zero vector. The verdict is written beside each fit.

looks = {
    "as given": ("#d55e00", "v"),
    "unshuffle": ("#0072b2", "o"),
    "order known": ("#009e73", "s"),
}
figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained")
axis.axhline(np.linalg.norm(data.coef), color="0.4", ls=":", lw=1, label="zero vector")
sizes = 360 // np.array(numbers)
for name, (colour, marker) in looks.items():
    axis.plot(sizes, errors[name], color=colour, marker=marker, label=name)
for size, error, level in zip(sizes, errors["unshuffle"], levels, strict=True):
    axis.annotate(level, (size, error), (0, 8), textcoords="offset points", ha="center", fontsize=9)
axis.set_xscale("log")
axis.set_xticks(sizes, [str(size) for size in sizes])
axis.minorticks_off()
axis.set_xlabel("rows in a group")
axis.set_ylabel("error of the coefficients")
axis.set_ylim(0)
axis.spines[["top", "right"]].set_visible(False)
axis.legend(frameon=False)

# %%
# What decided each verdict:

for size, level, reason in zip(sizes, levels, reasons, strict=True):
    print(f"{size:3d} rows: {level}, {reason}")
