"""Two fits that the pages describe: one that uses its match, one to unrelated labels."""

from dataclasses import replace

import numpy as np

from unshuffle import ShuffledRegressor
from unshuffle.datasets import make_shuffled_regression
from unshuffle.metrics import coefficient_error

from .landscape import COEF
from .sets import facts, fit


def rows():
    """The fits in numbers."""
    data = make_shuffled_regression(100, 2, noise=0.1, coef=COEF, random_state=0)
    model = fit(data, 0)
    related = [
        *numbers(model),
        ("error of solutions_[0]", error(model.solutions_[0], data)),
        ("error of coef_", error(model.coef_, data)),
        ("noise_scale_", round(model.noise_scale_, 3)),
    ]
    order = np.random.default_rng(0).permutation(len(data.y))
    apart = ShuffledRegressor(random_state=0, n_jobs=1).fit_unpaired(data.X, data.y[order])
    noise = 2.0 * np.random.default_rng(1).normal(size=len(data.y))
    model = fit(replace(data, y=noise), 0)
    unrelated = [
        *numbers(model),
        ("length of coef_", f"{np.linalg.norm(model.coef_):.1g}"),
        ("length of solutions_[0]", round(float(np.linalg.norm(model.solutions_[0])), 2)),
    ]
    return facts(
        [
            *((f"d = 2: {name}", value) for name, value in related),
            ("fit_unpaired: error", error(apart.coef_, data)),
            *((f"unrelated labels: {name}", value) for name, value in unrelated),
        ]
    )


def error(coef, data):
    """Coefficient error with four digits."""
    return round(coefficient_error(coef, data.coef), 4)


def numbers(model):
    """What a fit says of its search."""
    nulls = model.null_scores_
    return [
        ("candidates tried", model.n_candidates_),
        ("stopped by", model.stopped_by_),
        ("certified_", model.certified_),
        ("solution_objectives_[0]", round(float(model.solution_objectives_[0]), 3)),
        ("objective_", round(model.objective_, 3)),
        ("match_score_", round(model.match_score_, 2)),
        ("null scores, lowest to highest", f"{nulls.min():.2f} to {nulls.max():.2f}"),
        ("number of nulls", len(nulls)),
        ("null_pvalue_", f"{model.null_pvalue_:.1g}"),
        ("temper_", model.temper_),
        ("ridge_", round(model.ridge_, 2)),
    ]
