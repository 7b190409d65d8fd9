"""Attack one shuffle of a release with our own fit."""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ..exceptions import RankWarning, UnidentifiableWarning
from ..families.least_squares import LeastSquares
from ..inference.verdict import ORDER
from ..kernels.types import FloatArray, IntArray
from ._audit_settings import AUDIT, AuditSettings
from .shuffled import ShuffledRegressor


class Attack(NamedTuple):
    """One shuffle, attacked: what was found for some rows, and with what confidence.

    `near_confidence` is that of a label within tolerance of the one named.
    """

    confidence: FloatArray
    near_confidence: FloatArray
    found: FloatArray
    near: FloatArray
    coefficient_error: float
    naive_error: float
    verdict: str


class Fitted(NamedTuple):
    """An attacker's fit: its labels by row, coefficients per standard deviation, and verdict."""

    shares: list[dict[float, float]]
    coef: FloatArray
    naive: FloatArray
    truth: FloatArray
    verdict: str


def attack_numbers(
    X: FloatArray, y: FloatArray, codes: IntArray, source: IntArray, rows: IntArray,
    tolerance: float, seed: int, n_jobs: int | None,
) -> Attack:  # fmt: skip
    """Name for each row the label that it most often holds in the posterior."""
    fitted = _fit(X, y, codes, source, rows, seed, n_jobs)
    guess = np.array([max(share, key=lambda value: share[value]) for share in fitted.shares])
    confidence = [share[value] for share, value in zip(fitted.shares, guess, strict=True)]
    near = [
        sum(p for label, p in share.items() if abs(label - value) <= tolerance)
        for share, value in zip(fitted.shares, guess, strict=True)
    ]
    difference = np.abs(guess - y[rows])
    return Attack(
        np.array(confidence),
        np.array(near),
        np.asarray(difference == 0.0, dtype=np.float64),
        np.asarray(difference <= tolerance, dtype=np.float64),
        *_errors([fitted]),
        fitted.verdict,
    )


def attack_categories(
    X: FloatArray, y: FloatArray, codes: IntArray, source: IntArray, rows: IntArray,
    seed: int, n_jobs: int | None,
) -> Attack:  # fmt: skip
    """Name for each row its most probable category; one fit for each, of ones and zeros."""
    n_categories = int(y.max()) + 1
    chosen = [1] if n_categories == 2 else list(range(n_categories))
    fits = [
        _fit(X, np.asarray(y == k, dtype=np.float64), codes, source, rows, seed, n_jobs)
        for k in chosen
    ]
    has = np.array([[share.get(1.0, 0.0) for share in fit.shares] for fit in fits])
    shares = np.vstack([1.0 - has, has]) if n_categories == 2 else has
    # Fits of different categories need not add up to one; where all say no, nothing is known.
    total = shares.sum(axis=0)
    shares = np.where(total > 0.0, shares / np.where(total > 0.0, total, 1.0), 1.0 / n_categories)
    confidence = shares.max(axis=0)
    found = np.asarray(shares.argmax(axis=0) == y[rows], dtype=np.float64)
    verdict = max((fit.verdict for fit in fits), key=ORDER.index)
    return Attack(confidence, confidence, found, found, *_errors(fits), verdict)


def category_codes(y: Any, settings: AuditSettings = AUDIT) -> tuple[Any, tuple[str, ...]]:
    """Names as numbers, and the names; labels that are numbers stay as they are."""
    names: NDArray[Any] = np.asarray(y)
    if names.dtype.kind not in "OUS" or not all(isinstance(value, str) for value in names.ravel()):
        return y, ()
    categories, codes = np.unique(names.ravel().astype(str), return_inverse=True)
    if len(categories) > settings.most_categories:
        raise ValueError(
            f"the label has {len(categories)} different names, such as {str(categories[0])!r} and "
            f"{str(categories[1])!r}; a secret of at most {settings.most_categories} categories "
            "can be audited: merge some"
        )
    return codes.astype(np.float64), tuple(map(str, categories))


def _fit(
    X: FloatArray, y: FloatArray, codes: IntArray, source: IntArray, rows: IntArray, seed: int,
    n_jobs: int | None,
) -> Fitted:  # fmt: skip
    released = y[source]
    model = ShuffledRegressor(pairing="lost", random_state=seed, n_jobs=n_jobs)
    with warnings.catch_warnings():
        for kind in (UnidentifiableWarning, RankWarning, ConvergenceWarning):
            warnings.simplefilter("ignore", kind)  # the result counts the verdicts
        model.fit(X, released, groups=codes)
    spread = X.std(axis=0)
    return Fitted(
        _label_shares(model, released, rows),
        model.coef_ * spread,
        _least_squares(X, released) * spread,
        _least_squares(X, y) * spread,
        model.verdict_.level,
    )


def _label_shares(
    model: ShuffledRegressor, released: FloatArray, rows: IntArray
) -> list[dict[float, float]]:
    """The labels that each row holds in the posterior, by value, and for what share of it."""
    posterior = model._stochastic.permutations
    assert posterior is not None
    problem = posterior.problem
    found = []
    for share in posterior.partners(problem.arranged_rows(rows)):
        places: IntArray = np.fromiter(share, dtype=np.int64)
        values = released[problem.user_rows(places)].tolist()
        by_value: dict[float, float] = {}
        for value, part in zip(values, share.values(), strict=True):
            by_value[value] = by_value.get(value, 0.0) + part
        found.append(by_value)
    return found


def _errors(fits: Sequence[Fitted]) -> tuple[float, float]:
    """Length of what the attacker's and the naive coefficients are off by, over the true one."""
    truth = np.concatenate([fit.truth for fit in fits])
    length = float(np.linalg.norm(truth)) or 1.0
    off = np.concatenate([fit.coef for fit in fits]) - truth
    naive = np.concatenate([fit.naive for fit in fits]) - truth
    return float(np.linalg.norm(off)) / length, float(np.linalg.norm(naive)) / length


def _least_squares(X: FloatArray, y: FloatArray) -> FloatArray:
    return LeastSquares(X, fit_intercept=True).solve(y).coef
