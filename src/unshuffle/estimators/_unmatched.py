"""Rows without labels and labels without rows: from what a user gave to a fit."""

from dataclasses import replace
from typing import Any

import numpy as np

from ..data.groups import check_known, encode_groups
from ..data.numbers import as_floats, as_numbers
from ..data.problem import make_problem
from ..data.unequal import UnequalProblem, make_unequal_problem
from ..families.least_squares import LeastSquares
from ..fits.auto_results import AutoFit
from ..fits.own_or_nobody import OwnOrNobody, fit_own_or_nobody
from ..fits.routes import ROUTES
from ..fits.unequal import fit_unequal
from ..fits.unequal_em import UnequalSettings
from ..io.frames import library_of, plain_column
from ..kernels.types import FloatArray
from ..search.order_test import order_p_value
from ._attributes import forget, keep
from ._family_unpaired import fit_family_tables
from ._frames import take_frame, take_rows
from ._progress import reporting
from ._unpaired import (
    Kept,
    check_match_share,
    check_unmatched,
    keep_equal,
    key_tables,
    labels_as_floats,
    refuse_too_few,
    refuse_unequal,
)
from ._validation import check_features_and_labels, open_setting

Bounds = tuple[float, float]
FAR_OUT = 1.5  # distances of the quartiles beyond them; labels farther out count as lying there

# Settings that fits with rows or labels of nobody do not have, and the values that change nothing.
ONLY_EQUAL_COUNTS = {
    "noise": ("auto", "normal"),
    "temper": ("auto", 1.0),
    "ridge": ("auto", 0.0),
    "alignment": ("auto", "chain"),
    "covariance_type": ("auto", "model"),
}


def fit_two_tables(
    model: Any, X: Any, y: Any, groups_X: Any, groups_y: Any, unmatched: Any, match_share: Any
) -> None:
    """Fit two tables that share a group key; see `ShuffledRegressor.fit_unpaired`."""
    unmatched, bounds = check_unmatched(unmatched), check_match_share(match_share)
    tables = key_tables(X, y, groups_X, groups_y)
    if unmatched == "refuse":
        refuse_unequal(tables)
    labels = as_numbers(plain_column(y), "y")
    library = library_of(X, y, groups_X)
    equal = not len(tables.unequal)
    if model.family != "normal":
        fit_family_tables(model, X, labels, groups_X, tables, unmatched)
        return
    if unmatched == "model" and not (equal and bounds[0] == 1.0):
        blank = _blank(model)
        values = labels_as_floats(as_floats(labels, "y"))
        features = _features(blank, X, values)
        problem = make_unequal_problem(features, values, tables.of_rows, tables.of_labels)
        _fit_model(model, blank, problem, bounds)
    elif equal:
        beside = tables.beside
        model._fit_in_memory(X, labels[beside], groups_X, None, label_numbers=beside)
    else:
        _fit_kept(model, X, labels, groups_X, keep_equal(tables))
    model._library = library


def _fit_kept(model: Any, X: Any, labels: Any, groups: Any, kept: Kept) -> None:
    """Fit the groups with as many labels as rows."""
    model._fit_in_memory(
        take_rows(X, kept.rows),
        labels[kept.labels],
        take_rows(groups, kept.rows),
        None,
        label_numbers=kept.labels,
    )
    model.kept_rows_ = kept.rows
    model.n_labels_ = len(labels)
    model.n_dropped_groups_ = kept.n_groups
    model.n_dropped_rows_, model.n_dropped_labels_ = kept.n_rows, kept.n_labels


def fit_beside(
    model: Any, X: Any, y: Any, groups: Any, known: Any, match_prob: Any, match_share: Any
) -> None:
    """Fit labels given beside rows, some of which may be missing or nobody's."""
    bounds = check_match_share(match_share)
    if match_prob is not None:
        raise ValueError(
            "match_prob says how probable it is that a label is the row's own, and so does "
            "unmatched='model'; give one of the two"
        )
    library = library_of(X, y, groups)
    blank = _blank(model)
    labels = as_floats(plain_column(y), "y")
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"y must have one label per row, got shape {labels.shape}")
    n = len(labels)
    if np.isinf(labels).any():
        raise ValueError(
            f"y holds infinity in row {int(np.argmax(np.isinf(labels)))}; NaN is a missing label"
        )
    present = np.isfinite(labels)
    if not present.any():
        raise ValueError(f"all {n} labels are missing: there is nothing to fit")
    features = _features(blank, X, labels[present], n)
    codes = encode_groups(plain_column(groups), n)
    pinned = check_known(plain_column(known), n) & present
    p_value, ordered = _order(
        model, features[present], labels[present], codes[present], pinned[present]
    )
    if ordered:
        n_coefficients = features.shape[1] + model.fit_intercept
        n_present = int(present.sum())
        _refuse_share(bounds, n_present / n, n)
        refuse_too_few(min(bounds[1] * n, n_present), n_coefficients, n, n_present)
        found = fit_own_or_nobody(
            OwnOrNobody(features, labels, codes, pinned, p_value),
            bounds,
            fit_intercept=model.fit_intercept,
        )
        _keep(model, blank, found)
    else:
        rows = np.flatnonzero(present)  # row of each label
        known_labels = np.flatnonzero(pinned[rows])
        problem = make_unequal_problem(
            features, labels[rows], codes, codes[rows], rows[known_labels], known_labels
        )
        _fit_model(model, blank, problem, bounds, label_rows=rows)
    model._library = library


def _order(model: Any, X: FloatArray, y: FloatArray, codes: Any, known: Any) -> tuple[float, bool]:
    """p-value of the order given, and whether it is used.

    Labels of nobody may lie far out, where a few of them would hide the order of all others.
    """
    if model.pairing != "auto":
        return float("nan"), model.pairing != "lost"
    numbered = np.unique(codes, return_inverse=True)[1]
    low, high = np.quantile(y, [0.25, 0.75])
    if high > low:
        y = np.clip(y, low - FAR_OUT * (high - low), high + FAR_OUT * (high - low))
    problem = make_problem(X, y, numbered, known)
    solver = LeastSquares(X, fit_intercept=model.fit_intercept)
    p_value = order_p_value(problem, solver, 0)
    return p_value, bool(p_value < ROUTES.informative) or problem.n_movable == 0


def _fit_model(
    model: Any,
    blank: Any,
    problem: UnequalProblem,
    bounds: Bounds,
    label_rows: Any = None,
) -> None:
    n_coefficients = problem.X.shape[1] + model.fit_intercept
    _refuse_share(bounds, problem.largest_share, problem.n_open_rows)
    most = min(bounds[1] * problem.n_open_rows, problem.most_pairs) + problem.n_known
    refuse_too_few(most, n_coefficients, problem.n_given_rows, problem.n_given_labels)
    settings = UnequalSettings(
        model._draw_seed(),
        match_share=bounds,
        search=model.search,
        n_candidates=open_setting(model.n_candidates),
        fit_intercept=model.fit_intercept,
    )
    with model._workers() as workers:
        shown = reporting(model.verbose, model.callback)
        found = fit_unequal(problem, workers, settings, reporting=shown)
    _keep(model, blank, found if label_rows is None else renumbered(found, label_rows))
    model._unequal = problem, settings  # for replicates; they stay out of files


def _refuse_share(bounds: Bounds, largest: float, n_rows: int) -> None:
    if bounds[0] > largest:
        raise ValueError(
            f"match_share is at least {bounds[0]:g}, but only {largest:.3g} of {n_rows} rows can "
            "have a label, as some groups have fewer labels than rows; give a smaller share or "
            "'estimate'"
        )


def _keep(model: Any, blank: Any, found: AutoFit) -> None:
    forget(model, blank)
    vars(model).pop("_problem", None)  # of an earlier fit
    vars(model).pop("_unequal", None)
    keep(model, found, model._convergence_advice)


def renumbered(found: AutoFit, label_rows: Any) -> AutoFit:
    """A fit whose labels are counted by the rows that they stood beside."""
    matches, unmatched = found.fit.matches, found.unmatched
    assert matches is not None
    assert unmatched is not None
    rows = np.append(label_rows, -1)
    proba = np.full(unmatched.n_rows, np.nan)
    proba[label_rows] = unmatched.label_proba
    groups = np.full(unmatched.n_rows, -1, dtype=np.int64)
    groups[label_rows] = unmatched.label_groups
    return replace(
        found,
        fit=replace(found.fit, matches=replace(matches, permutation=rows[matches.permutation])),
        unmatched=replace(
            unmatched, label_proba=proba, label_groups=groups, seen=rows[unmatched.seen]
        ),
    )


def _blank(model: Any) -> Any:
    if not model._fits_unmatched:
        raise ValueError(
            f"{type(model).__name__} chooses settings by held-out groups of equal counts; use "
            "ShuffledRegressor with unmatched='model'"
        )
    model._validate_params()
    for name, values in ONLY_EQUAL_COUNTS.items():
        if getattr(model, name) not in values:
            raise ValueError(
                f"{name}={getattr(model, name)!r} is for fits without unmatched='model'; leave it "
                f"at {values[0]!r}"
            )
    return type(model)(**model.get_params(deep=False))


def _features(blank: Any, X: Any, labels: FloatArray, n_rows: int | None = None) -> FloatArray:
    """X as a finite matrix, checked together with the labels' size."""
    size = len(X) if n_rows is None else n_rows
    if len(labels) and np.all(labels == labels[0]):
        raise ValueError(
            f"all {len(labels)} labels equal {labels[0]:g}: there is nothing to fit; "
            "check that y is the right column"
        )
    # Labels of another number than rows are checked apart; these stand in for them.
    beside = np.resize(labels, size)
    if size and np.all(beside == beside[0]):
        beside[-1] = labels[np.argmax(labels != beside[0])]
    features, _ = check_features_and_labels(blank, take_frame(blank, X), beside)
    return features
