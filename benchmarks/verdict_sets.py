"""Simulated sets for the verdict: one family to set its thresholds on, others to check them.

The first two families share no setting: other sizes, dimensions, noise, features, coefficients and
shuffles. The third has other laws of the noise.
What is asked of a fit that is trusted: an error below twice the 95 % radius of a fit with known
order, both in the metric of X, where that radius is `noise * sqrt(chi2.ppf(.95, d))`.
"""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2

from unshuffle import ShuffledRegressor
from unshuffle.datasets.simulated import cut_by_rank, shuffle_inside

from .noise import draw as draw_noise

RESULTS = Path(__file__).with_name("results")


class Family(NamedTuple):
    """What a set is drawn from, and where its seeds begin."""

    name: str
    first_seed: int
    sizes: tuple
    dimensions: tuple
    noises: tuple
    shuffles: tuple
    features: tuple
    coefficients: str
    laws: tuple = ("normal",)


SETTING = Family(
    "setting", 0, (100, 200, 400), (2, 4, 8), (0.1, 0.3, 1.0),
    ("full", "3 groups", "tens", "10 % wrong", "30 % wrong", "60 % wrong"), ("normal",), "normal",
)  # fmt: skip
CHECKING = Family(
    "checking", 100_000, (150, 300, 600), (1, 3, 5, 10), (0.2, 0.5, 0.8),
    ("full", "5 groups by label", "twenties", "20 % wrong", "50 % wrong"),
    ("uniform", "exponential", "mixed"), "signs",
)  # fmt: skip
# Noise as real tables have it. "growing": its standard deviation changes with the fitted value.
OTHER_NOISE = Family(
    "other-noise", 200_000, (200, 400, 1000), (1, 2, 3, 5), (0.25, 0.5, 1.0),
    ("0 % wrong", "10 % wrong", "30 % wrong", "50 % wrong", "eights"),
    ("uniform", "exponential", "mixed"), "signs", ("t3", "lognormal", "growing"),
)  # fmt: skip


class Set(NamedTuple):
    """One set and the truth behind it."""

    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray
    coef: np.ndarray
    noise: float
    about: dict


def draw(family, number):
    """The set of this number: every setting at random, so that a run of any length is a grid."""
    rng = np.random.RandomState(family.first_seed + number)
    n, d, noise, shuffle, features = (
        choices[rng.randint(len(choices))]
        for choices in (
            family.sizes, family.dimensions, family.noises, family.shuffles, family.features
        )
    )  # fmt: skip
    X = _features(rng, features, n, d)
    coef = rng.normal(size=d)
    if family.coefficients == "signs":
        coef = np.sign(coef) * rng.uniform(0.3, 1.5, size=d)
    about = {"n": n, "d": d, "noise": noise, "shuffle": shuffle, "features": features}
    if len(family.laws) > 1:
        about["law"] = family.laws[rng.randint(len(family.laws))]
    y = X @ coef + noise * _noise(rng, about.get("law", "normal"), X @ coef)
    groups, source = _shuffle(rng, shuffle, X, y)
    return Set(X, y[source], groups, coef, noise, about)


def _features(rng, kind, n, d):
    if kind == "uniform":
        return rng.uniform(-np.sqrt(3), np.sqrt(3), size=(n, d))
    if kind == "exponential":
        return rng.exponential(size=(n, d))
    X = rng.normal(size=(n, d))
    if kind == "mixed":
        X[:, 1::2] = rng.uniform(size=X[:, 1::2].shape) < 0.4
    return X


def _noise(rng, law, fitted):
    """Noise with a mean square near one."""
    if law != "growing":
        return draw_noise(law, rng, len(fitted))
    spread = np.exp(0.5 * (fitted - fitted.mean()) / fitted.std())
    return spread / np.sqrt(np.mean(spread**2)) * rng.normal(size=len(fitted))


def _shuffle(rng, kind, X, y):
    n = len(y)
    nobody = np.zeros(n, dtype=int)
    if kind.endswith("wrong"):
        source = np.arange(n)
        rows = rng.choice(n, size=round(float(kind.split()[0]) / 100 * n), replace=False)
        source[rows] = rng.permutation(rows)
        return nobody, source
    groups = {
        "full": lambda: nobody,
        "3 groups": lambda: cut_by_rank(X[:, 0], 3),
        "5 groups by label": lambda: cut_by_rank(y, 5),
        "tens": lambda: cut_by_rank(rng.uniform(size=n), n // 10),
        "eights": lambda: cut_by_rank(rng.uniform(size=n), n // 8),
        "twenties": lambda: cut_by_rank(rng.uniform(size=n), n // 20),
    }[kind]()
    return groups, shuffle_inside(rng, groups)


def radius(noise, n_features):
    """Radius of the 95 % region of a fit with known order, as a length in the metric of X."""
    return noise * np.sqrt(chi2.ppf(0.95, n_features))


def measure(data, seed, n_jobs=2):
    """Fit at default settings; everything the verdict looks at, and the error."""
    model = ShuffledRegressor(n_jobs=n_jobs, random_state=seed)
    model.fit(data.X, data.y, groups=data.groups)
    centred = data.X - data.X.mean(axis=0)
    error = np.linalg.norm(centred @ (model.coef_ - data.coef))
    return {
        **data.about,
        "level": model.verdict_.level,
        "pairing": model.pairing_,
        "start": model.start_,
        "error": float(error / radius(data.noise, len(data.coef))),
        "reasons": {r.check: [r.level, r.value] for r in model.verdict_.reasons},
    }


def trusted(row, check, threshold):
    """Whether a fit would be trusted if `check` had another threshold and the others theirs."""
    if check not in row["reasons"]:
        return row["level"] == "trust"
    others = [level for name, (level, _) in row["reasons"].items() if name != check]
    return all(level == "trust" for level in others) and row["reasons"][check][1] < threshold


def collect(family, n_sets, again=False):
    """Measure `n_sets` of a family; what an earlier run measured is read from its file."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"verdict_{family.name}.jsonl"
    if again:
        path.unlink(missing_ok=True)
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    with path.open("a") as file:
        for number in range(len(rows), n_sets):
            rows.append(measure(draw(family, number), family.first_seed + number))
            file.write(json.dumps(rows[-1]) + "\n")
            file.flush()
    return rows[:n_sets]
