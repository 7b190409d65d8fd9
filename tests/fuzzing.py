"""Calls of every public method with odd data and settings; only clear errors may come back.

``python tests/fuzzing.py 10000`` makes so many calls and prints what went wrong, with the number
of the call, by which it can be made again: ``python tests/fuzzing.py 1 --first NUMBER``.
"""

import argparse
import os
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

import unshuffle
from odd_data import UNITS, as_frame, pick, table
from unshuffle import datasets, metrics

CLEAR = (ValueError, TypeError, unshuffle.SchedulerLostError)
REPEATED = 0.15  # share of fits that are made again, and with another number of threads
# Odd values of parameters; most parameters are left alone.
ODD = (None, "x", -1, 0, 1, 2, 0.5, 1e-300, 1e300, 2**63, float("nan"), float("inf"), True, [1.0])
# Parameters whose automatic value would take long.
CHEAP = {"n_candidates", "n_steps", "max_iter", "n_init"}


SLOW = 5.0  # seconds, reported by the long version


class Failure(NamedTuple):
    """What went wrong in which call."""

    number: int
    what: str
    trace: str


SETTINGS = {
    unshuffle.ShuffledRegressor: {
        "pairing": ("auto", "auto", "lost", "mostly-right", "known"),
        "mismatch_rate": ("estimate", "estimate", 0.2, 1e-12),
        "search": ("auto", "auto", "none", "population"),
        "n_candidates": (5, 20),
        "alignment": ("auto", "chain", "sinkhorn", "exact"),
        "noise": ("auto", "normal", "t", "mixture"),
        "temper": ("auto", "auto", 2.0, 1e6, 1e-6),
        "ridge": ("auto", "auto", 0.1, 1e30),
        "covariance_type": ("auto", "auto", "model", "robust"),
    },
    unshuffle.StochasticEMRegressor: {
        "variant": ("exact", "exact", "exact", "published"),
        "max_iter": (1, 3, 12),
        "tol": ("auto", 0.0, 1e300),
        "n_steps": (1, 50, 400),
        "burn_in": ("auto", "auto", 0),
        "thin": ("auto", "auto", 1, 7),
        "init": ("ols", "ols", [0.5], [1e40], [1e99], [1e300], [0.5, 0.5]),
        "mismatch_rate": (None, "estimate", 0.2, 1e-12),
        "max_shift": (None, None, 0, 2, 2**63),
        "alignment": ("chain", "sinkhorn", "exact"),
        "temper": (1.0, 1.0, 1.5, 1e6, 1e-6),
        "ridge": (0.0, 0.0, 0.1, 1e30),
        "covariance_type": ("auto", "auto", "model", "robust"),
        "streaming": ("auto", "auto", "auto", unshuffle.Streaming(rows_per_part=5)),
        "early_stopping": (False, False, True),
        "validation_fraction": (0.2, 0.5, 1e-300),
    },
    unshuffle.ShuffledRegressorCV: {
        "cv": (2, 3),
        "tempers": ((1.0,), (1.0, 1.5), (1e-6,), (0.0,)),
        "ridges": ("auto", (0.0,), (1e30,)),
        "rule": ("one-standard-error", "best"),
        "n_candidates": (5, 20),
        "covariance_type": ("auto", "auto", "model", "robust"),
    },
    unshuffle.HardEMRegressor: {
        "n_init": (1, 5, "auto"),
        "max_iter": (1, 20),
        "init": ("ols", "ols", [0.5], [1e40], [1e99], [1e300]),
    },
    unshuffle.MixtureRegressor: {
        "mismatch_rate": ("estimate", "estimate", 0.2, 1e-12),
        "max_iter": (1, 30),
        "noise": ("normal", "normal", "t", "mixture", "auto"),
        "tol": (1e-10, 0.0, 1e300),
    },
}


FAMILY_ESTIMATORS = (
    unshuffle.ShuffledRegressor,
    unshuffle.StochasticEMRegressor,
    unshuffle.HardEMRegressor,
)
RATES = (0.2, 1e-12, 0.999, None, unshuffle.Audit(checked=30, wrong=3))
SHARES = ("estimate", 0.5, (0.2, 0.9), 0.0, 1.0, "x")


def estimator(rng):
    """An estimator with some of its parameters set, now and then to something impossible."""
    kind = pick(rng, list(SETTINGS))
    names = kind().get_params()
    chosen = {
        name: pick(rng, values)
        for name, values in SETTINGS[kind].items()
        if name in CHEAP or rng.random() < 0.4
    }
    chosen["fit_intercept"] = bool(rng.random() < 0.7)
    if rng.random() < 0.06:
        name = pick(rng, sorted(set(names) - {"verbose", "callback", "n_jobs", "streaming"}))
        chosen[name] = pick(rng, ODD)
        if name in {"n_candidates", "n_init", "n_steps", "max_iter"} and chosen[name] == 2**63:
            chosen[name] = 0  # honest work for years
    if "random_state" in names and "random_state" not in chosen:
        chosen["random_state"] = 0
    return kind(**chosen)


def one_call(rng):
    """One call of something public, or a fit and what is asked of it."""
    made, kind = table(rng), rng.random()
    if kind < 0.05:
        unshuffle.check_blocks(
            made["X"], made["y"], made["groups"], level=pick(rng, (0.95, 0.95, 1.0, 1e-9))
        )
    elif kind < 0.055:
        unshuffle.audit_release(
            made["X"], made["y"], made["groups"], n_shuffles=2, random_state=0,
            tolerance=pick(rng, (None, 0.0, -1.0)),
        )  # fmt: skip
    elif kind < 0.1:
        measures(rng, made)
    elif kind < 0.14:
        from_frames(rng, made)
    elif kind < 0.15:
        simulated(rng)
    elif kind < 0.3:
        fit_other(rng, made)
    else:
        fit_and_ask(rng, made)


def measures(rng, made):
    """The functions of `metrics`."""
    if rng.random() < 0.5:
        other = pick(rng, (made["y"], np.zeros(3), [1.0, 2.0]))
        if rng.random() < 0.5:
            found = metrics.matched_r2(made["y"], other, made["groups"])
            assert -1.0 <= found <= 1.0, f"matched_r2 returned {found}"
            return
        metrics.log_density_gain(
            made["y"], other, pick(rng, (0.5, 1e-300, 1e300, 0.0, float("nan"))), made["groups"],
            pairing=pick(rng, ("lost", "mostly-right", "known", "x")),
            mismatch_rate=pick(rng, (0.0, 0.2, 1.0, 2.0)),
        )  # fmt: skip
        return
    measure = pick(rng, (metrics.coefficient_error, metrics.coefficient_cosine,
                         metrics.matched_mse, metrics.permutation_accuracy))  # fmt: skip
    value = measure(made["y"], pick(rng, (made["y"], made["X"], [1.0, 2.0], [])))
    assert np.isfinite(value), f"{measure.__name__} returned {value}"


def from_frames(rng, made):
    """Fits by formula, and from a file, in memory or in passes."""
    frame = as_frame(rng, made)
    group = "g" if "g" in frame else None
    if rng.random() < 0.5:
        formula = pick(rng, ("y ~ a", "y ~ a - 1", "y ~ C(a)", "y ~ a + b", "y ~", "a ~ y"))
        model = unshuffle.fit_formula(formula, frame, group, random_state=0, n_candidates=5)
        model.predict(frame)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        try:
            frame.to_parquet(path)
        except Exception:  # not a table that pandas can write, which is none of our business
            return
        unshuffle.fit_parquet(
            path, label="y", group=group, n_steps=50, max_iter=2, tol=0, random_state=0,
            streaming=pick(rng, (None, unshuffle.Streaming(rows_per_part=5))),
        )  # fmt: skip


def simulated(rng):
    """Simulated data, by numbers that may make no sense."""
    odd = (0, 1, 2, 7, -1, 2.5, 1e300, float("nan"), "x", None)
    names = ("n_samples", "n_features", "noise", "n_swaps", "fraction", "n_groups", "intercept")
    chosen = {name: pick(rng, odd) for name in names if rng.random() < 0.2}
    shuffle = pick(rng, ("full", "swaps", "fraction", "groups", "x"))
    datasets.make_shuffled_regression(**chosen, shuffle=shuffle, random_state=0)


def fit_other(rng, made):
    """Fits beyond normal labels of equal counts: families, moments, clues, strangers."""
    X, y, groups = made["X"], made["y"], made["groups"]
    more = {"known": made["known"], "match_prob": made["match_prob"]}
    kind = pick(rng, ("moment", "classifier", "cox", "family", "nobody", "unpaired", "clues"))
    if kind == "moment":
        model = unshuffle.MomentRegressor(
            method=pick(rng, ("lahiri-larsen", "chambers", "ratio", "x")),
            mismatch_rate=pick(rng, RATES),
        ).fit(X, y, groups, match_prob=made["match_prob"])
    elif kind == "classifier":
        model = unshuffle.ShuffledClassifier(pairing=pick(rng, ("auto", "lost", "known")))
        model.fit(X, _classes(rng, y), groups, **more)
    elif kind == "cox":
        labels = np.column_stack([_classes(rng, y), np.asarray(y)]) if rng.random() < 0.8 else y
        model = unshuffle.ShuffledCoxRegressor().fit(X, labels, **more)
    elif kind == "family":
        family = pick(rng, ("poisson", "gamma", "negative-binomial", "normal", "x"))
        beside = {pick(rng, ("sample_weight", "offset", "exposure", "x")): pick(rng, (y, None))}
        model = pick(rng, FAMILY_ESTIMATORS)(family=family, random_state=0)
        if isinstance(model, unshuffle.HardEMRegressor):
            del more["match_prob"]
        model.fit(X, y, groups, **more, **beside)
    elif kind == "nobody":
        model = unshuffle.ShuffledRegressor(n_candidates=5, random_state=0)
        model.fit(X, y, groups, unmatched="model", match_share=pick(rng, SHARES))
    elif kind == "unpaired":
        model = unshuffle.ShuffledRegressor(n_candidates=5, random_state=0)
        how = pick(rng, ("refuse", "drop-groups", "model", "x"))
        gone = pick(rng, (1, 3, 50))
        fewer = None if groups is None else np.atleast_1d(np.asarray(groups))[gone:]
        given = (X, np.atleast_1d(np.asarray(y))[gone:], groups, fewer)
        model.fit_unpaired(*given, unmatched=how, match_share=pick(rng, SHARES))
    else:
        model = pick(
            rng, (unshuffle.MixtureRegressor(), unshuffle.ShuffledRegressor(random_state=0))
        )
        model.fit(X, y, match_features=pick(rng, (X, y, groups)), **more)
    assert np.isfinite(model.coef_).all(), f"coef_ is {model.coef_}"
    _ask_other(rng, model, X, of_family=kind in {"classifier", "cox", "family"})


def _ask_other(rng, model, X, *, of_family):
    """One method of such a fit, where it has that method."""
    questions = {
        "predict": lambda: model.predict(X),
        "_repr_html_": model._repr_html_,
        "summary": lambda: _shown(model.summary()),
    }
    if of_family:
        questions |= {
            "suspects": lambda: model.suspects(0.9),
            "bootstrap": lambda: model.bootstrap(3, n_jobs=1).interval(0.4),
            "conf_int": lambda: model.conf_int(method="sandwich"),
        }
    name = pick(rng, list(questions))
    try:
        if hasattr(model, name):
            questions[name]()
    except CLEAR as error:
        if not is_clear(error):
            raise


def _classes(rng, y):
    """Labels cut into two classes, or left as they are."""
    values = np.asarray(y)
    if rng.random() < 0.2 or values.dtype.kind not in "fiu" or not values.size:
        return y
    return (values > np.median(values)).astype(int)


def fit_and_ask(rng, made):
    """A fit, its attributes, a second fit, and methods."""
    model = estimator(rng)
    unpaired = isinstance(model, unshuffle.ShuffledRegressor) and rng.random() < 0.1
    more = {} if isinstance(model, unshuffle.MixtureRegressor) else {"groups": made["groups"]}
    more["known"] = made["known"]
    if not isinstance(model, unshuffle.HardEMRegressor):
        more["match_prob"] = made["match_prob"]

    def fit(estimator):
        if unpaired:
            groups = made["groups"]
            return estimator.fit_unpaired(made["X"], made["y"], groups, groups)
        return estimator.fit(made["X"], made["y"], **more)

    fit(model)
    assert np.isfinite(model.coef_).all(), f"coef_ is {model.coef_}"
    assert np.isfinite(model.intercept_), f"intercept_ is {model.intercept_}"
    assert np.isfinite(model.noise_scale_), f"noise_scale_ is {model.noise_scale_}"
    repeats = rng.random() < REPEATED
    if repeats and model.get_params().get("random_state", 0) is not None:
        same_bits(model, fit(clone(model)))
        if "n_jobs" in model.get_params():
            same_bits(model, fit(clone(model).set_params(n_jobs=2)))
    for _ in range(3):
        ask(rng, model, made)


def same_bits(one, two):
    """Refits and other numbers of threads give the same bits."""
    for name in ("coef_", "intercept_", "noise_scale_", "match_proba_", "standard_errors_"):
        a, b = getattr(one, name, 0.0), getattr(two, name, 0.0)
        assert np.array_equal(a, b, equal_nan=True), f"{name} differs between two fits: {a} {b}"


def ask(rng, model, made):
    """One method of a fitted estimator, with options that may not make sense."""
    level = pick(rng, (0.95, 0.95, 0.5, 1e-12, 1.0 - 1e-12, 0.0, 1.0, float("nan"), "x"))
    method = pick(rng, ("auto", "auto", "information", "sandwich", "x"))
    questions = {
        "predict": lambda: model.predict(made["X"]),
        "predict other": lambda: model.predict(np.full((2, len(model.coef_)), pick(rng, UNITS))),
        "score": lambda: model.score(made["X"], made["y"]),
        "score in groups": lambda: model.score(made["X"], made["y"], groups=made["groups"]),
        "html": model._repr_html_,
        "conf_int": lambda: model.conf_int(level, method),
        "covariance": lambda: model.covariance(method),
        "noise": lambda: model.noise_scale_interval(level, method),
        "rate": lambda: model.mismatch_rate_interval(level, method),
        "summary": lambda: _shown(model.summary(level)),
        "suspects": lambda: model.suspects(
            pick(rng, (0.5, 0.0, 1.0, 2.0, float("nan"))), n_partners=pick(rng, (0, 1, 3))
        ),
        "repair": lambda: model.repair(made["y"]),
        "pairs": lambda: model.pair_probabilities(pick(rng, (0, 1, -1, 99))),
        "bootstrap": lambda: model.bootstrap(pick(rng, (2, 3, 0, 1.5)), n_jobs=1).interval(level),
        "posterior": lambda: str(model.posterior(
            n_chains=pick(rng, (1, 2)), n_draws=pick(rng, (8, 8, 1)), n_warmup=pick(rng, (0, 8))
        )),
        "sensitivity": lambda: str(model.mismatch_sensitivity(
            pick(rng, ((0.0, 0.2), (0.999999,), (1e-300,), (1.0,), (), "x"))
        )),
        "file": lambda: _saved(model),
    }  # fmt: skip
    if not isinstance(model, unshuffle.ShuffledRegressor | unshuffle.StochasticEMRegressor):
        questions = {
            name: questions[name]
            for name in ("predict", "predict other", "score", "score in groups", "html")
        }
    elif getattr(model, "match_proba_", None) is None and not hasattr(model, "permutation_"):
        questions = {n: q for n, q in questions.items() if n not in {"pairs", "repair"}}
    name = pick(rng, list(questions))
    if name == "pairs" and model._stochastic.permutations is None:
        return
    try:
        questions[name]()
    except CLEAR as error:
        if not is_clear(error):
            raise


def is_clear(error):
    """Whether an error is for users; one of linear algebra is a value error, but not clear."""
    return isinstance(error, CLEAR) and not isinstance(error, np.linalg.LinAlgError)


def _shown(summary):
    return str(summary), summary._repr_html_(), summary.to_dict(), summary.to_latex()


def _saved(model):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        unshuffle.save_model(model, path)
        unshuffle.load_model(path)


def attempt(seed, number):
    """Make call `number`; a `Failure` where anything but a clear error came back."""
    rng = np.random.default_rng([seed, number])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        error = None
        try:
            one_call(rng)
        except Exception as wrong:
            if not is_clear(wrong):
                what = f"{type(wrong).__name__}: {wrong}"
                return Failure(number, what, traceback.format_exc()), "failed"
            error = "refused"
    for warning in caught:
        if issubclass(warning.category, RuntimeWarning | DeprecationWarning | ResourceWarning):
            what = f"{warning.category.__name__}: {warning.message}"
            return Failure(number, what, f"{warning.filename}:{warning.lineno}"), "failed"
    return None, error or "answered"


def run(n_calls, seed=0, first=0, seconds=float("inf"), report=None):
    """Failures, and how many calls were answered, refused and failed."""
    failures, counts, began = [], Counter(), time.monotonic()
    for number in range(first, first + n_calls):
        start = time.monotonic()
        failure, outcome = attempt(seed, number)
        taken = time.monotonic() - start
        if report is not None and taken > SLOW:
            report(Failure(number, f"took {taken:.0f} s", ""))
        counts[outcome] += 1
        if failure is not None:
            failures.append(failure)
            if report is not None:
                report(failure)
        if time.monotonic() - began > seconds:
            break
    return failures, counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("calls", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()

    def report(failure):
        sys.stdout.write(f"call {failure.number}: {failure.what}\n{failure.trace}\n")
        sys.stdout.flush()

    failures, counts = run(given.calls, given.seed, given.first, report=report)
    sys.stdout.write(f"{sum(counts.values())} calls: {dict(counts)}\n")
    sys.exit(bool(failures))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
