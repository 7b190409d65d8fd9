"""Simulated sets, fits to them, and what became of each: shared by the parts of both pages."""

import warnings

import numpy as np

from unshuffle import ShuffledRegressor
from unshuffle.data.problem import make_problem
from unshuffle.data.threads import Workers
from unshuffle.datasets import make_shuffled_regression
from unshuffle.families.least_squares import LeastSquares
from unshuffle.metrics import coefficient_cosine, coefficient_error
from unshuffle.search.landscape import Landscape

N_SETS = 5
N_ROWS = 200
RECOVERED = 0.1  # relative error of the coefficients
FEW_CANDIDATES = 20_000  # where "auto" would take too long


def make_landscape(X, y, kind=Landscape):
    """Rows and labels in one group, on one thread."""
    codes, known = np.zeros(len(y), dtype=np.int64), np.zeros(len(y), dtype=bool)
    solver = LeastSquares(X, fit_intercept=True)
    return kind(make_problem(X, y, codes, known), solver, Workers(1))


def unit_set(n, d, noise, seed, **settings):
    """A simulated set whose coefficients have length 1 and a random direction."""
    coef = np.random.RandomState([d, seed]).normal(size=d)
    coef /= np.linalg.norm(coef)
    return make_shuffled_regression(n, d, noise=noise, coef=coef, random_state=seed, **settings)


def fit(data, seed, known=None, **settings):
    """The default estimator, on one thread and without its warnings."""
    model = ShuffledRegressor(random_state=seed, n_jobs=1, pairing="lost", **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(data.X, data.y, groups=data.groups, known=known)


def try_set(data, seed, **settings):
    """Fit one set; what became of it."""
    model = fit(data, seed, **settings)
    best = model.solutions_[0]
    freedom = len(data.y) - data.X.shape[1] - 1
    return {
        "noise": model.noise_scale_,
        "best_objective": float(model.solution_objectives_[0]),
        "best_noise": float(np.sqrt(model.solution_objectives_[0] / freedom)),
        "error": coefficient_error(model.coef_, data.coef),
        "p": model.null_pvalue_,
        "cautious": model.temper_ > 1.0,
        "best_error": coefficient_error(best, data.coef),
        "best_cosine": coefficient_cosine(best, data.coef),
        "certified": model.certified_,
    }


def share_recovered(fits):
    """Share of the fits whose error is small."""
    return float(np.mean([f["error"] < RECOVERED for f in fits]))


def percent(share, digits=0):
    """A share as text."""
    return f"{100 * share:.{digits}f} %"


def mean_of(fits, name):
    """Mean of one entry over fits, as a page shows it."""
    return round(float(np.mean([f[name] for f in fits])), 2)


def facts(pairs):
    """Names and values as rows of a table."""
    return [{"what": name, "value": value} for name, value in pairs]
