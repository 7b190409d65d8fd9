"""Fits in memory: estimator, data, parameters, and what is asked afterwards."""

from functools import partial

import numpy as np

from unshuffle import HardEMRegressor, MixtureRegressor, ShuffledRegressor, StochasticEMRegressor

from . import data as made
from . import methods as ask

START = np.array([-0.5, 0.3, 1.0, 1.5])
FEW = {"n_candidates": 60}
ESTIMATE = {"mismatch_rate": "estimate"}
KNOWN = partial(made.groups, with_known=True)

STOCHASTIC = {
    "groups": (made.groups, {}, (ask.intervals, ask.sandwich, ask.predict, ask.summary)),
    "groups, afterwards": (made.groups, {}, (ask.bootstrap, ask.posterior, ask.suspects)),
    "groups, two threads": (made.groups, {"n_jobs": 2}, (ask.sandwich, ask.bootstrap)),
    "groups, no intercept": (made.groups, {"fit_intercept": False}, (ask.sandwich,)),
    "groups, ridge": (made.groups, {"ridge": 0.1}, (ask.bootstrap,)),
    "groups, temper": (made.groups, {"temper": 1.5}, ()),
    "groups, init": (made.groups, {"init": START}, ()),
    "groups, init, no intercept": (made.groups, {"init": START, "fit_intercept": False}, ()),
    "groups, known rows": (KNOWN, {}, (ask.sandwich, ask.repair)),
    "groups, all iterations": (made.groups, {"tol": 0, "max_iter": 9}, ()),
    "groups, not converged": (made.zones, {"max_iter": 6}, ()),
    "groups, schedule": (made.groups, {"n_steps": 9000, "burn_in": 500, "thin": 3}, ()),
    "groups, frame": (made.frame, {}, (ask.suspects, ask.summary)),
    "groups, single precision": (made.single_precision, {}, ()),
    "groups, ties": (made.counts, {}, (ask.repair,)),
    "groups, rank": (made.dependent, {}, (ask.intervals, ask.bootstrap)),
    "groups, rank, ridge": (made.dependent, {"ridge": 0.05}, ()),
    "groups of one row": (made.singles, {}, (ask.intervals, ask.sandwich)),
    "zones": (made.zones, {}, (ask.posterior,)),
    "groups, sinkhorn": (made.groups, {"alignment": "sinkhorn"}, (ask.intervals,)),
    "groups, sinkhorn, temper": (made.groups, {"alignment": "sinkhorn", "temper": 2.0}, ()),
    "one large group, sinkhorn": (partial(made.full, 6000, 1), {"alignment": "sinkhorn"}, ()),
    "one group, one feature": (partial(made.full, 300, 1), {}, (ask.bootstrap,)),
    "small groups, exact": (made.small_groups, {"alignment": "exact"}, (ask.intervals,)),
    "small groups, exact, mostly right": (
        made.small_groups, {"alignment": "exact", **ESTIMATE}, (ask.rate_interval,),
    ),
    "mostly right": (
        made.swapped, ESTIMATE, (ask.rate_interval, ask.sandwich, ask.suspects, ask.repair),
    ),
    "mostly right, afterwards": (made.swapped, ESTIMATE, (ask.bootstrap, ask.posterior)),
    "mostly right, rate given": (made.swapped, {"mismatch_rate": 0.3}, (ask.bootstrap,)),
    "mostly right, groups": (made.swapped_in_groups, ESTIMATE, (ask.posterior, ask.bootstrap)),
    "mostly right, probabilities": (made.linked, {}, (ask.bootstrap, ask.suspects)),
    "mostly right, probabilities, known rows": (partial(made.swapped_known, made.linked), {}, ()),
    "mostly right, no intercept": (made.swapped, {"fit_intercept": False, **ESTIMATE}, ()),
    "mostly right, ridge, temper": (made.swapped, {"ridge": 0.1, "temper": 1.3, **ESTIMATE}, ()),
    "mostly right, init": (made.swapped, {"init": START, **ESTIMATE}, ()),
    "mostly right, known rows": (made.swapped_known, ESTIMATE, ()),
    "mostly right, rank": (partial(made.dependent, made.swapped), ESTIMATE, ()),
    "mostly right, sinkhorn": (made.swapped, {"alignment": "sinkhorn", **ESTIMATE}, ()),
    "mostly right, many rows": (
        partial(made.swapped, 30_000), {"n_jobs": 2, **ESTIMATE}, (ask.sandwich,),
    ),
    "near, lost": (made.shifted, {"max_shift": 3}, (ask.bootstrap, ask.posterior)),
    "near, mostly right": (made.shifted, {"max_shift": 3, **ESTIMATE}, (ask.suspects,)),
    "near, sinkhorn": (made.shifted, {"max_shift": 3, "alignment": "sinkhorn"}, ()),
    "published": (partial(made.full, 400, 3), {"variant": "published"}, (ask.predict,)),
    "published, groups": (made.groups, {"variant": "published", "fit_intercept": False}, ()),
    "published, known rows": (KNOWN, {"variant": "published", "n_jobs": 2}, ()),
    "published, schedule": (
        made.groups, {"variant": "published", "n_steps": 2000, "init": START, "tol": 0.5}, (),
    ),
    "Boston": (made.boston, {}, ()),
    "large": (made.large, {}, (ask.intervals,)),
    "large, two threads": (made.large, {"n_jobs": 2}, ()),
    "large, known rows, no intercept": (
        partial(made.groups, 260_000, 3, 1500, 0.5, 12, with_known=True), {"fit_intercept": False},
        (),
    ),
    "large, ridge": (made.large, {"ridge": 0.01, "max_iter": 12}, ()),
}  # fmt: skip

HARD = {
    "one group": (partial(made.full, 120, 2), {}, (ask.predict,)),
    "one group, two threads": (partial(made.full, 120, 2), {"n_jobs": 2}, ()),
    "groups": (made.groups, {"n_init": 20}, ()),
    "groups, no intercept, init": (
        made.groups, {"n_init": 20, "init": START, "fit_intercept": False}, (),
    ),
    "known rows": (KNOWN, {"n_init": 20}, ()),
    "rank": (made.dependent, {"n_init": 10}, ()),
    "not converged": (made.full, {"n_init": 5, "max_iter": 1}, ()),
    "Boston": (made.boston, {"n_init": 30}, ()),
}  # fmt: skip

MIXTURE = {
    "estimate": (made.swapped, {}, (ask.predict,)),
    "rate given, no intercept": (made.swapped, {"mismatch_rate": 0.3, "fit_intercept": False}, ()),
    "known rows": (made.swapped_known, {}, ()),
    "probabilities": (made.linked, {}, ()),
    "rank": (partial(made.dependent, made.swapped), {}, ()),
    "not converged": (made.swapped, {"max_iter": 3}, ()),
}

SHUFFLED = {
    "groups": (made.groups, {}, (ask.sandwich, ask.bootstrap, ask.summary, ask.stored)),
    "groups, posterior": (made.groups, {"n_jobs": 2}, (ask.posterior, ask.suspects, ask.repair)),
    "groups, lost": (made.groups, {"pairing": "lost", **FEW}, ()),
    "groups, mostly right": (made.groups, {"pairing": "mostly-right"}, ()),
    "groups, known order": (made.groups, {"pairing": "known"}, (ask.bootstrap, ask.sandwich)),
    "groups, no intercept": (made.groups, {"fit_intercept": False, **FEW}, (ask.bootstrap,)),
    "groups, known rows": (KNOWN, {}, ()),
    "groups, rank": (made.dependent, FEW, (ask.intervals,)),
    "groups, no search": (made.groups, {"search": "none", "pairing": "lost"}, (ask.bootstrap,)),
    "groups, frame": (made.frame, FEW, (ask.summary, ask.stored)),
    "groups, ties": (made.counts, FEW, ()),
    "groups, sinkhorn": (made.groups, {"alignment": "sinkhorn", **FEW}, ()),
    "groups, temper, ridge": (made.groups, {"temper": 1.2, "ridge": 0.02, **FEW}, ()),
    "groups of one row": (made.singles, {}, (ask.posterior,)),
    "zones": (made.zones, {}, (ask.posterior,)),
    "one group, one feature": (partial(made.full, 200, 1), {}, ()),
    "one group, certified": (made.full, {}, (ask.bootstrap,)),
    "one group, three features": (partial(made.full, 150, 3, 0.2), {"n_jobs": 2}, ()),
    "one group, five features": (partial(made.full, 300, 5), {"n_jobs": 2}, ()),
    "one group, rejected": (partial(made.full, 150, 12, 2.0), FEW, (ask.bootstrap,)),
    "one group, match in any case": (
        partial(made.full, 150, 12, 2.0), {"search": "population", **FEW}, (),
    ),
    "known rows give the start": (made.many_known, FEW, ()),
    "group means give the start": (made.many_means, FEW, ()),
    "mostly right": (
        made.swapped, {}, (ask.rate_interval, ask.sandwich, ask.suspects, ask.stored),
    ),
    "mostly right, afterwards": (made.swapped, {"n_jobs": 2}, (ask.bootstrap, ask.posterior)),
    "mostly right, declared": (made.swapped, {"pairing": "mostly-right"}, ()),
    "mostly right, rate given": (made.swapped, {"mismatch_rate": 0.25}, ()),
    "mostly right, probabilities": (made.linked, {}, (ask.posterior,)),
    "mostly right, no intercept": (made.swapped, {"fit_intercept": False}, ()),
    "mostly right, sinkhorn": (made.swapped, {"alignment": "sinkhorn"}, ()),
    "mostly right, ridge": (made.swapped, {"ridge": 0.05, "temper": 1.1}, (ask.bootstrap,)),
    "mostly right, taken as lost": (made.swapped, {"pairing": "lost", **FEW}, ()),
    "small groups, exact": (made.small_groups, {"alignment": "exact", **FEW}, ()),
    "order right": (made.ordered, {}, (ask.summary,)),
    "order known": (made.ordered, {"pairing": "known"}, (ask.bootstrap, ask.posterior)),
    "order known, no intercept, rank": (
        partial(made.dependent, made.ordered), {"pairing": "known", "fit_intercept": False}, (),
    ),
    "many mismatches": (partial(made.swapped, 500, 4, 0.5, 0.75), FEW, ()),
    "Boston, few zones": (made.boston, FEW, (ask.repair,)),
    "Boston, many zones": (partial(made.boston, n_zones=80), FEW, (ask.sandwich,)),
    "Boston, MEDV gives the zones": (partial(made.boston, "LSTAT", "MEDV", 3), FEW, ()),
    "many rows, lost": (partial(made.groups, 20_000, 3, 200), {"n_jobs": 2, **FEW}, ()),
    "groups cut by the labels": (
        partial(made.zones, 400, 12, 10, 2.0, by_label=True), FEW, (ask.bootstrap,),
    ),
    "groups cut by the labels, lost": (
        partial(made.zones, 400, 12, 10, 2.0, by_label=True), {"pairing": "lost", **FEW}, (),
    ),
    "almost no noise": (partial(made.full, 400, 6, 0.01), FEW, ()),
    "little order": (partial(made.swapped, 300, 3, 0.3, 0.88), FEW, ()),
    "hardly any order": (partial(made.swapped, 300, 3, 0.3, 0.93), FEW, ()),
}  # fmt: skip

TABLES = {
    "stochastic": (StochasticEMRegressor, STOCHASTIC),
    "hard": (HardEMRegressor, HARD),
    "mixture": (MixtureRegressor, MIXTURE),
    "shuffled": (ShuffledRegressor, SHUFFLED),
}
