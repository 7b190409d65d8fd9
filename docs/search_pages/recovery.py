"""What is recovered, by features, noise, groups and rows, and what known rows change."""

from dataclasses import replace

import numpy as np
from sklearn.linear_model import LinearRegression

from unshuffle.metrics import coefficient_error

from .sets import FEW_CANDIDATES, N_ROWS, N_SETS, make_landscape, try_set, unit_set

FEATURES = (1, 2, 3, 5, 8, 12)
NOISES = (0.02, 0.05, 0.1, 0.2, 0.5)
MANY_FEATURES = 5  # above, the map is made with FEW_CANDIDATES
GROUPS = (1, 4, 12, 40, 120)
ROWS = (50, 200, 800, 3200)
KNOWN_ROWS = (20, 40)


def budget(d):
    """Candidates of a fit on the map."""
    return FEW_CANDIDATES if d > MANY_FEATURES else "auto"


def study_map():
    """Fits by number of features and noise."""
    return {
        (d, noise): [try_on_map(d, noise, seed) for seed in range(N_SETS)]
        for d in FEATURES
        for noise in NOISES
    }


def try_on_map(d, noise, seed):
    """One set of the map, and whether its search missed the truth."""
    data = unit_set(N_ROWS, d, noise, seed)
    found = try_set(data, seed, n_candidates=budget(d))
    return found | {"missed": lies_below(data, found["best_objective"])}


def lies_below(data, objective):
    """Whether hard EM from the true coefficients ends clearly below what the search found."""
    landscape = make_landscape(data.X, data.y)
    truth = landscape.theta_of(data.X @ data.coef)[None]
    explained = landscape.descend(truth, 500)
    return bool(landscape.total - explained[0] < 0.98 * objective)


def study_groups():
    """Fits by number of random groups."""
    settings = {"shuffle": "groups", "group_by": "random"}
    return {
        k: [
            try_set(unit_set(480, 5, 0.5, seed, n_groups=k, **settings), seed)
            for seed in range(N_SETS)
        ]
        for k in GROUPS
    }


def study_rows():
    """Fits by number of rows."""
    return {n: [try_set(unit_set(n, 3, 0.2, seed), seed) for seed in range(N_SETS)] for n in ROWS}


def study_full_budget():
    """Eight features and little noise with the automatic budget, which the map does not use."""
    return {
        noise: [try_set(unit_set(N_ROWS, 8, noise, seed), seed) for seed in range(N_SETS)]
        for noise in NOISES[:2]
    }


def study_known():
    """Twelve features, noise 0.2, and the right labels of a few rows; OLS on those rows beside."""
    found = {}
    for n_known in KNOWN_ROWS:
        fits = []
        for seed in range(N_SETS):
            data = unit_set(N_ROWS, 12, 0.2, seed)
            known = np.arange(N_ROWS) < n_known
            y = data.y_ordered.copy()
            y[~known] = np.random.RandomState(seed).permutation(y[~known])
            alone = LinearRegression().fit(data.X[known], y[known])
            row = try_set(replace(data, y=y), seed, known=known)
            fits.append(row | {"alone": coefficient_error(alone.coef_, data.coef)})
        found[n_known] = fits
    return found
