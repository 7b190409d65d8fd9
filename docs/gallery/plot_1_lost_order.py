"""
Labels shuffled inside groups
=============================

Five hundred rows in 25 groups. Inside a group it is unknown which label belongs to which row.
Least squares on the labels as given finds almost nothing; the fit finds the coefficients.
"""

from sklearn.linear_model import LinearRegression

from unshuffle import ShuffledRegressor, plots
from unshuffle.datasets import make_shuffled_regression

data = make_shuffled_regression(
    500, 5, noise=0.5, shuffle="groups", n_groups=25, group_by="random", random_state=0
)
model = ShuffledRegressor(random_state=0).fit(data.X, data.y, groups=data.groups)
print(model.verdict_)

# %%
# Read the verdict first. Then compare: blue is the fit with its 95 % intervals, orange the labels
# as given, green the fit that needs the true order.

known = LinearRegression().fit(data.X, data.y_ordered)
display = plots.CoefficientDisplay.from_estimator(model, known_order=known.coef_)

# %%
# The summary says the same in figures.

print(model.summary())
