"""
Many matchings, one that stands apart
=====================================

All labels are shuffled and there are no groups. The search keeps every distinct matching that it
finds, and compares the best with what it reaches for labels that have nothing to do with the rows.
"""

from unshuffle import ShuffledRegressor
from unshuffle.datasets import make_shuffled_regression
from unshuffle.show.plots import SolutionsDisplay

data = make_shuffled_regression(200, 3, noise=0.05, random_state=0)
model = ShuffledRegressor(random_state=0).fit(data.X, data.y)

SolutionsDisplay.from_estimator(model)

# %%
# The best matching stands apart from the others and beats chance, and for three features it is
# proved to be the best of all.

print(model.verdict_)
print("proved:", model.certified_)
print("truth:", data.coef.round(2), "found:", model.coef_.round(2))
