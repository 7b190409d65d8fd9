"""Can a shuffled release be undone? Attack it with our own fit and count what is found."""

import itertools
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ..data.groups import encode_groups
from ..datasets.simulated import shuffle_inside
from ..exceptions import RankWarning, UnidentifiableWarning
from ..families.least_squares import LeastSquares
from ..io.frames import plain_column
from ..kernels.types import FloatArray, IntArray
from ._audit_result import AUDIT, AuditResult, AuditSettings, Band, Estimate
from ._validation import check_features_and_labels, check_lengths
from .shuffled import ShuffledRegressor

__all__ = ["AuditResult", "audit_release"]


class Attack(NamedTuple):
    """One shuffle, attacked: what was found for some rows, and with what confidence."""

    confidence: FloatArray
    found: FloatArray
    near: FloatArray
    coefficient_error: float
    naive_error: float
    verdict: str


def audit_release(
    X: Any,
    y: Any,
    groups: Any = None,
    *,
    n_shuffles: int = 5,
    tolerance: float | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    callback: Callable[[int, int], object] | None = None,
    settings: AuditSettings = AUDIT,
) -> AuditResult:
    """Estimate how much of a release with labels shuffled inside groups can be undone.

    The data given are the true pairing, which only the publisher has. Each round shuffles the
    labels inside groups as the release would, fits a `ShuffledRegressor` to the result as an
    attacker would, names for each row the label it most often holds in the posterior, and
    compares with the truth. Guessing inside a group of n rows finds the own label with
    probability 1/n (more where labels are tied).

    An attacker who knows more (other tables, single rows, a better model) may find more. Read the
    shares as "at least".

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        What is released beside the labels, in the true order.
    y : array-like of shape (n_samples,)
        Labels, in the true order.
    groups : array-like of shape (n_samples,), optional
        Inside which labels will be shuffled.
    n_shuffles : int, default=5
        Rounds, at least 2.
    tolerance : float, optional
        A label this near counts as found within tolerance. Default: a tenth of the labels'
        standard deviation.
    n_jobs : int, optional
        Threads.
    random_state : int, RandomState or None, default=None
        Seed.
    callback : callable, optional
        Called with the rounds done and their number.
    settings : AuditSettings, optional
        Where confidence is cut, and how many rows are followed.

    Returns
    -------
    result : AuditResult

    Notes
    -----
    Confidence is the share of 200 posterior draws in which a row holds the label guessed. At most
    2,000 random rows are followed per round, since draws are kept for each.

    Examples
    --------
    >>> import numpy as np
    >>> from unshuffle import audit_release
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = X @ [1.0, 2.0] + 0.01 * rng.normal(size=200)  # hardly any noise: all is found
    >>> result = audit_release(X, y, groups=np.arange(200) // 10, random_state=0)
    >>> bool(result.found.value > 0.8)
    True
    """
    y, groups = plain_column(y), plain_column(groups)
    check_lengths(X, y, groups)
    X, y = check_features_and_labels(BaseEstimator(), X, y)
    if n_shuffles < 2:
        raise ValueError(f"n_shuffles must be at least 2 to estimate the error, got {n_shuffles}")
    codes = encode_groups(groups, len(y))
    tolerance = settings.tolerance * float(y.std()) if tolerance is None else float(tolerance)
    if tolerance < 0.0:
        raise ValueError(f"tolerance cannot be negative, got {tolerance}")
    rng = check_random_state(random_state)
    truth = _standardised(X, _least_squares(X, y))
    own, within = _by_guessing(y, codes, tolerance)
    attacks, followed = [], []
    for k in range(n_shuffles):
        source = shuffle_inside(rng, codes)
        rows = np.sort(rng.permutation(len(y))[: settings.most_rows])
        seed = int(rng.randint(2**31 - 1))
        attacks.append(_attack(X, y, codes, source, rows, truth, tolerance, seed, n_jobs))
        followed.append(rows)
        if callback is not None:
            callback(k + 1, n_shuffles)
    sizes = np.bincount(codes)
    return AuditResult(
        n_rows=len(y),
        n_groups=len(sizes),
        n_shuffles=n_shuffles,
        smallest_group=int(sizes.min()),
        n_alone=int((sizes == 1).sum()),
        tolerance=tolerance,
        found=_mean([float(a.found.mean()) for a in attacks]),
        found_by_guessing=Estimate(float(own.mean()), 0.0),
        near=_mean([float(a.near.mean()) for a in attacks]),
        near_by_guessing=Estimate(float(within.mean()), 0.0),
        mean_confidence=_mean([float(a.confidence.mean()) for a in attacks]),
        bands=_bands(attacks, [own[rows] for rows in followed], settings.edges),
        coefficient_error=_mean([a.coefficient_error for a in attacks]),
        naive_error=_mean([a.naive_error for a in attacks]),
        verdicts={v: sum(a.verdict == v for a in attacks) for v in ("trust", "caution", "reject")},
    )


def _attack(
    X: FloatArray, y: FloatArray, codes: IntArray, source: IntArray, rows: IntArray,
    truth: FloatArray, tolerance: float, seed: int, n_jobs: int | None,
) -> Attack:  # fmt: skip
    released = y[source]
    model = ShuffledRegressor(pairing="lost", random_state=seed, n_jobs=n_jobs)
    with warnings.catch_warnings():
        for kind in (UnidentifiableWarning, RankWarning, ConvergenceWarning):
            warnings.simplefilter("ignore", kind)  # the result counts the verdicts
        model.fit(X, released, groups=codes)
    guess, confidence = _guesses(model, rows)
    difference = np.abs(released[guess] - y[rows])
    length = float(np.linalg.norm(truth)) or 1.0
    naive = _standardised(X, _least_squares(X, released))
    return Attack(
        confidence,
        np.asarray(difference == 0.0, dtype=np.float64),
        np.asarray(difference <= tolerance, dtype=np.float64),
        float(np.linalg.norm(_standardised(X, model.coef_) - truth)) / length,
        float(np.linalg.norm(naive - truth)) / length,
        model.verdict_.level,
    )


def _guesses(model: ShuffledRegressor, rows: IntArray) -> tuple[IntArray, FloatArray]:
    """The label each row holds most often in the posterior, and how often."""
    posterior = model._stochastic.permutations
    assert posterior is not None
    problem = posterior.problem
    shares = posterior.partners(problem.arranged_rows(rows))
    best = [next(iter(share.items())) for share in shares]
    labels: IntArray = np.array([label for label, _ in best], dtype=np.int64)
    return problem.user_rows(labels), np.array([share for _, share in best])


def _by_guessing(y: FloatArray, codes: IntArray, tolerance: float) -> tuple[FloatArray, FloatArray]:
    """Probability that a random label of the group equals a row's own, or is within tolerance."""
    own, within = np.empty(len(y)), np.empty(len(y))
    for rows in np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1]):
        labels = np.sort(y[rows])
        for share, distance in ((own, 0.0), (within, tolerance)):
            high = np.searchsorted(labels, y[rows] + distance, side="right")
            low = np.searchsorted(labels, y[rows] - distance, side="left")
            share[rows] = (high - low) / len(rows)
    return own, within


def _bands(
    attacks: list[Attack], guessed: list[FloatArray], edges: tuple[float, ...]
) -> tuple[Band, ...]:
    bands = []
    for low, high in itertools.pairwise(edges):
        inside = [(a.confidence >= low) & ((a.confidence < high) | (high == 1.0)) for a in attacks]
        seen = [k for k, rows in enumerate(inside) if rows.any()]
        bands.append(
            Band(
                low,
                high,
                _mean([float(rows.mean()) for rows in inside]),
                _mean([float(attacks[k].found[inside[k]].mean()) for k in seen]),
                _mean([float(guessed[k][inside[k]].mean()) for k in seen]),
            )
        )
    return tuple(bands)


def _mean(values: list[float]) -> Estimate:
    """Mean and standard error; nan where there are too few values."""
    if not values:
        return Estimate(float("nan"), float("nan"))
    error = float(np.std(values, ddof=1)) / len(values) ** 0.5 if len(values) > 1 else float("nan")
    return Estimate(float(np.mean(values)), error)


def _least_squares(X: FloatArray, y: FloatArray) -> FloatArray:
    return LeastSquares(X, fit_intercept=True).solve(y).coef


def _standardised(X: FloatArray, coef: FloatArray) -> FloatArray:
    scaled: FloatArray = coef * X.std(axis=0)
    return scaled
