"""Can a shuffled release be undone? Attack it with our own fit and count what is found."""

import itertools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ..data.groups import encode_groups
from ..datasets.simulated import shuffle_inside
from ..exceptions import RankWarning, UnidentifiableWarning
from ..kernels.types import FloatArray, IntArray
from .shuffled import ShuffledRegressor

# Where the attacker's confidence is cut.
EDGES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
MOST_ROWS = 2000
OVERCONFIDENT = 0.2


class Estimate(NamedTuple):
    """A mean over shuffles, and its Monte Carlo standard error."""

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.1%} ± {self.error:.1%}"


class Band(NamedTuple):
    """Rows about which the attacker is about equally sure.

    Attributes
    ----------
    low, high : float
        Ends of the attacker's confidence.
    share : Estimate
        Share of the rows that fall in between.
    found : Estimate
        Share of those whose own label was found.
    chance : Estimate
        What guessing inside groups would find among them.
    """

    low: float
    high: float
    share: Estimate
    found: Estimate
    chance: Estimate


@dataclass(frozen=True)
class AuditResult:
    """What an attacker would learn from a release shuffled inside groups.

    Shares are of all rows. Errors are Monte Carlo errors over the shuffles: they say how well the
    figures are known for this attack, not what a cleverer attack would find.

    Attributes
    ----------
    n_rows, n_groups, n_shuffles : int
    smallest_group, n_alone : int
        Size of the smallest group, and rows that are alone in theirs: shuffling does not hide them.
    tolerance : float
        A label this near counts as found "within tolerance".
    found, found_by_chance : Estimate
        Share of rows whose own label the attacker names, and what guessing inside groups gives.
    near, near_by_chance : Estimate
        The same for a label within tolerance of the own one.
    mean_confidence : Estimate
        What the attacker believes to have found.
    bands : tuple of Band
        By the attacker's confidence.
    coefficient_error : Estimate
        Length of (attacker's - true-order coefficients) over the length of the true-order ones,
        per standard deviation of the features. 0: all is told; 1: as good as nothing.
    naive_error : Estimate
        The same for least squares on the release as it stands.
    verdicts : dict
        How often the attacker's own fit said "trust", "caution" and "reject".
    """

    n_rows: int
    n_groups: int
    n_shuffles: int
    smallest_group: int
    n_alone: int
    tolerance: float
    found: Estimate
    found_by_chance: Estimate
    near: Estimate
    near_by_chance: Estimate
    mean_confidence: Estimate
    bands: tuple[Band, ...]
    coefficient_error: Estimate
    naive_error: Estimate
    verdicts: dict[str, int]

    @property
    def overconfident(self) -> bool:
        """Whether the attacker is far surer than right.

        Then the model does not hold, or the data were not in their true order to begin with, and
        the shares found mean little.
        """
        return self.mean_confidence.value - self.found.value > OVERCONFIDENT

    @property
    def text(self) -> str:
        """One sentence."""
        gain = self.found.value - self.found_by_chance.value
        error = float(np.hypot(self.found.error, self.found_by_chance.error))
        if gain <= 3.0 * error:
            return (
                f"the attack names {self.found} of the labels, no more than guessing inside groups "
                f"({self.found_by_chance})"
            )
        return (
            f"the attack names {self.found} of the labels; guessing inside groups names "
            f"{self.found_by_chance}"
        )


class Attack(NamedTuple):
    """One shuffle, attacked: what was guessed for some rows, and how surely."""

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
) -> AuditResult:
    """Estimate how much of a release with labels shuffled inside groups can be undone.

    The data given are the true pairing, which only the publisher has. Each round shuffles the
    labels inside groups as the release would, fits a `ShuffledRegressor` to the result as an
    attacker would, names for each row the label it most often holds in the posterior, and
    compares with the truth. Guessing inside a group of n rows finds the own label with
    probability 1/n (more where labels are tied).

    What the attack does not find may still be found by one that knows more: other tables, single
    rows, or a better model. Read the shares as "at least".

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
    >>> y = X @ [1.0, 2.0] + 0.01 * rng.normal(size=200)  # hardly any noise: all can be undone
    >>> result = audit_release(X, y, groups=np.arange(200) // 10, random_state=0)
    >>> bool(result.found.value > 0.8)
    True
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if n_shuffles < 2:
        raise ValueError(f"n_shuffles must be at least 2 to know the error, got {n_shuffles}")
    codes = encode_groups(groups, len(y))
    tolerance = 0.1 * float(y.std()) if tolerance is None else float(tolerance)
    if tolerance < 0.0:
        raise ValueError(f"tolerance cannot be negative, got {tolerance}")
    rng = check_random_state(random_state)
    truth = _standardised(X, _least_squares(X, y))
    own, within = _chances(y, codes, tolerance)
    attacks, followed = [], []
    for k in range(n_shuffles):
        source = shuffle_inside(rng, codes)
        rows = np.sort(rng.permutation(len(y))[:MOST_ROWS])
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
        found_by_chance=Estimate(float(own.mean()), 0.0),
        near=_mean([float(a.near.mean()) for a in attacks]),
        near_by_chance=Estimate(float(within.mean()), 0.0),
        mean_confidence=_mean([float(a.confidence.mean()) for a in attacks]),
        bands=_bands(attacks, [own[rows] for rows in followed]),
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


def _chances(y: FloatArray, codes: IntArray, tolerance: float) -> tuple[FloatArray, FloatArray]:
    """Chance that a random label of the group equals a row's own, or is within tolerance."""
    own, within = np.empty(len(y)), np.empty(len(y))
    for rows in np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1]):
        labels = np.sort(y[rows])
        for chances, reach in ((own, 0.0), (within, tolerance)):
            high = np.searchsorted(labels, y[rows] + reach, side="right")
            low = np.searchsorted(labels, y[rows] - reach, side="left")
            chances[rows] = (high - low) / len(rows)
    return own, within


def _bands(attacks: list[Attack], chances: list[FloatArray]) -> tuple[Band, ...]:
    bands = []
    for low, high in itertools.pairwise(EDGES):
        inside = [(a.confidence >= low) & ((a.confidence < high) | (high == 1.0)) for a in attacks]
        seen = [k for k, rows in enumerate(inside) if rows.any()]
        bands.append(
            Band(
                low,
                high,
                _mean([float(rows.mean()) for rows in inside]),
                _mean([float(attacks[k].found[inside[k]].mean()) for k in seen]),
                _mean([float(chances[k][inside[k]].mean()) for k in seen]),
            )
        )
    return tuple(bands)


def _mean(values: list[float]) -> Estimate:
    """Mean and standard error; nan where there is too little to tell."""
    if not values:
        return Estimate(float("nan"), float("nan"))
    error = float(np.std(values, ddof=1)) / len(values) ** 0.5 if len(values) > 1 else float("nan")
    return Estimate(float(np.mean(values)), error)


def _least_squares(X: FloatArray, y: FloatArray) -> FloatArray:
    solution: FloatArray = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[0]
    return solution


def _standardised(X: FloatArray, coef: FloatArray) -> FloatArray:
    scaled: FloatArray = coef * X.std(axis=0)
    return scaled
