"""
Many matchings, one that stands apart
=====================================

All labels are shuffled and there are no groups. The search keeps every distinct matching that it
finds, and compares the best with the best for labels that are unrelated to the rows.
"""

from unshuffle import ShuffledRegressor, plots
from unshuffle.datasets import make_shuffled_regression

data = make_shuffled_regression(200, 3, noise=0.05, random_state=0)
model = ShuffledRegressor(random_state=0).fit(data.X, data.y)

plots.SolutionsDisplay.from_estimator(model)

# %%
# The best matching stands apart from the others, is better than matchings of unrelated labels, and
# for three features it is proved to be the best of all.

print(model.verdict_)
print("proved:", model.certified_)
print("truth:", data.coef.round(2), "found:", model.coef_.round(2))
