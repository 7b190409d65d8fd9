"""What clues of who is mismatched are worth: error, bias and coverage with and without them.

``python -m benchmarks.clues [n_sets] [n_sets_of_the_chain]`` prints three sections. Every set has
n=1000 rows, d=4 features and 25 % of the rows mismatched; the labels of mismatched rows are
exchanged among them.
"""

import sys
import warnings
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from unshuffle import MixtureRegressor, StochasticEMRegressor

N_ROWS, RATE = 1000, 0.25
COEF = np.array([1.0, -1.0, 0.5, 0.0])
Z95 = 1.96


class Case(NamedTuple):
    """Noise, slopes of the two clues on the logit scale, and correlation of the first with x0."""

    noise: float
    slopes: tuple[float, float]
    linked: float = 0.0


class Links(NamedTuple):
    """One simulated linked file."""

    X: np.ndarray
    y: np.ndarray
    clues: np.ndarray
    match_coef: np.ndarray


def make(case: Case, seed: int) -> Links:
    """Mismatches depend on the clues alone; their rate is 25 % on average."""
    rng = np.random.default_rng(seed)
    X, clues = rng.normal(size=(N_ROWS, len(COEF))), rng.normal(size=(N_ROWS, 2))
    clues[:, 0] = case.linked * X[:, 0] + np.sqrt(1.0 - case.linked**2) * clues[:, 0]
    y = 1.0 + X @ COEF + case.noise * rng.normal(size=N_ROWS)
    score = clues @ case.slopes
    intercept = brentq(lambda b: np.mean(expit(-b - score)) - RATE, -50.0, 50.0)
    away = np.flatnonzero(rng.random(N_ROWS) > expit(intercept + score))
    y[away] = y[rng.permutation(away)]
    return Links(X, y, clues, np.array([intercept, *case.slopes]))


def chain() -> StochasticEMRegressor:
    return StochasticEMRegressor(mismatch_rate="estimate", random_state=0)


def errors_of(model) -> np.ndarray:
    """Standard errors of the coefficients; the mixture has them only with clues."""
    errors = getattr(model, "standard_errors_", getattr(model, "coef_se_", None))
    return np.full(len(COEF), np.nan) if errors is None else errors[1:]


def compare(case: Case, make_model, n_sets: int) -> dict[str, float]:
    """Fits with and without clues, on the same sets."""
    with_clues, without, covered, clue_covered, inside = [], [], [], [], []
    for seed in range(n_sets):
        links = make(case, seed)
        model = make_model().fit(links.X, links.y, match_features=links.clues)
        plain = make_model().fit(links.X, links.y)
        with_clues.append(model.coef_ - COEF)
        without.append(plain.coef_ - COEF)
        covered.append(np.abs(with_clues[-1]) < Z95 * errors_of(model))
        inside.append(np.abs(without[-1]) < Z95 * errors_of(plain))
        found = model.match_model_
        distance = np.abs(found.coef - links.match_coef)
        clue_covered.append(distance < Z95 * found.standard_errors)
    with_clues, without = np.array(with_clues), np.array(without)
    size, other = np.sqrt((with_clues**2).mean()), np.sqrt((without**2).mean())
    return {
        "error": size,
        "without": other,
        "ratio": size / other,
        "bias of w0": with_clues[:, 0].mean(),
        "without ": without[:, 0].mean(),
        "largest bias": np.abs(with_clues.mean(axis=0)).max(),
        "without  ": np.abs(without.mean(axis=0)).max(),
        "coverage": np.mean(covered),
        "of clues": np.mean(clue_covered),
    }


def show(title: str, cases: dict[str, Case], n_mixture: int, n_chain: int) -> None:
    """One line for each case and method."""
    print(f"\n{title}", flush=True)
    for name, case in cases.items():
        for label, make_model, n_sets in (
            ("mixture", MixtureRegressor, n_mixture),
            ("chain", chain, n_chain),
        ):
            if not n_sets:
                continue
            found = compare(case, make_model, n_sets)
            cells = "  ".join(f"{key.strip()} {value:.3f}" for key, value in found.items())
            print(f"{name:28s} {label:8s} {n_sets:4d} sets  {cells}", flush=True)


SECTIONS = {
    "Mismatches depend on two clues": {
        "noise 1, slopes 1.5": Case(1.0, (1.5, -1.5)),
        "noise 2, slopes 4": Case(2.0, (4.0, -4.0)),
    },
    "Clues that say nothing": {"noise 1": Case(1.0, (0.0, 0.0))},
    "Mismatches depend on x0 through a clue": {
        "noise 1, slopes 3 and 1.5": Case(1.0, (-3.0, 1.5), 0.8),
        "noise 2, slopes 3 and 1.5": Case(2.0, (-3.0, 1.5), 0.8),
    },
}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    counts = [200, 40]
    counts[: len(sys.argv) - 1] = map(int, sys.argv[1:3])
    n_mixture, n_chain = counts
    for title, cases in SECTIONS.items():
        show(title, cases, n_mixture, n_chain)
