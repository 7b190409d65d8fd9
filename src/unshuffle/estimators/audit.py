"""Can a shuffled release be undone? Attack it with our own fit and count what is found."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from ..data.groups import encode_groups
from ..datasets.simulated import shuffle_inside
from ..io.frames import plain_column
from ..kernels.types import FloatArray, IntArray
from ._audit_attack import Attack, attack_categories, attack_numbers, category_codes
from ._audit_result import AuditResult, Band, Estimate
from ._audit_risk import row_risks, zone_risks
from ._audit_settings import AUDIT, AuditSettings
from ._validation import check_features_and_labels, check_lengths

__all__ = ["AuditResult", "audit_release"]


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
        Labels, in the true order: numbers, or names, which are categories.
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

    A secret of categories is attacked by one fit for each of them, to labels that are one where a
    row has it and zero elsewhere; a row gets the category of the highest probability.

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
    y, categories = category_codes(y, settings)
    X, y = check_features_and_labels(BaseEstimator(), X, y)
    if n_shuffles < 2:
        raise ValueError(f"n_shuffles must be at least 2 to estimate the error, got {n_shuffles}")
    codes = encode_groups(groups, len(y))
    if tolerance is None:
        tolerance = 0.0 if categories else settings.tolerance * float(y.std())
    tolerance = float(tolerance)
    if tolerance < 0.0:
        raise ValueError(f"tolerance cannot be negative, got {tolerance}")
    rng = check_random_state(random_state)
    own, within = _by_guessing(y, codes, tolerance)
    attacks, followed = [], []
    for k in range(n_shuffles):
        source = shuffle_inside(rng, codes)
        rows = np.sort(rng.permutation(len(y))[: settings.most_rows])
        seed = int(rng.randint(2**31 - 1))
        if categories:
            attacks.append(attack_categories(X, y, codes, source, rows, seed, n_jobs))
        else:
            attacks.append(attack_numbers(X, y, codes, source, rows, tolerance, seed, n_jobs))
        followed.append(rows)
        if callback is not None:
            callback(k + 1, n_shuffles)
    sizes = np.bincount(codes)
    alone = sizes[codes] == 1
    rare = _by_guessing(y, np.zeros_like(codes), tolerance)[1] < settings.common
    exposed = [
        attack.near * (attack.near_confidence >= settings.confident) * (rare | alone)[rows]
        for attack, rows in zip(attacks, followed, strict=True)
    ]
    is_open = (own == 1.0) & (rare | alone)
    if categories:
        own = within = _by_most_frequent(y, codes)
    risks = row_risks(
        len(y), followed, [a.near for a in attacks], exposed, [a.near_confidence for a in attacks]
    )
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
        exposed=_mean([float(values.mean()) for values in exposed]),
        n_open=int(is_open.sum()),
        zones=zone_risks(_names(groups, codes), codes, risks, within, is_open),
        rows=risks,
        categories=categories,
    )


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


def _by_most_frequent(y: FloatArray, codes: IntArray) -> FloatArray:
    """Share of the rows of each row's group that have the group's most frequent category."""
    counts = np.zeros((int(codes.max()) + 1, int(y.max()) + 1))
    np.add.at(counts, (codes, y.astype(np.int64)), 1.0)
    share: FloatArray = counts.max(axis=1) / counts.sum(axis=1)
    return share[codes]


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


def _names(groups: Any, codes: IntArray) -> NDArray[Any]:
    """The name of each group, by its number."""
    if groups is None:
        return np.array(["all rows"], dtype=object)
    first = np.unique(codes, return_index=True)[1]
    flat = np.asarray(groups, dtype=object).reshape(len(codes))
    return np.asarray(flat[first])
