"""What clues of who is mismatched are worth: error, bias and coverage with and without them.

``python -m benchmarks.clues [n_sets] [n_sets_of_the_chain]``. Every set has n=1000 rows, d=4
features and 25 % of the rows mismatched; the labels of mismatched rows are exchanged among them.
With ``--json`` the table is kept in docs/results, where the guide takes it from.
"""

import sys
import warnings
from typing import NamedTuple

import numpy as np
from docs.tables import wants_json, write_result
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.linear_model import LinearRegression

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
    with_clues, without, as_given, covered, clue_covered = [], [], [], [], []
    for seed in range(n_sets):
        links = make(case, seed)
        model = make_model().fit(links.X, links.y, match_features=links.clues)
        plain = make_model().fit(links.X, links.y)
        as_given.append(LinearRegression().fit(links.X, links.y).coef_ - COEF)
        with_clues.append(model.coef_ - COEF)
        without.append(plain.coef_ - COEF)
        covered.append(np.abs(with_clues[-1]) < Z95 * errors_of(model))
        found = model.match_model_
        distance = np.abs(found.coef - links.match_coef)
        clue_covered.append(distance < Z95 * found.standard_errors)
    size, other = (np.sqrt(np.mean(np.square(errors))) for errors in (with_clues, without))
    bias = {
        name: float(np.mean(errors, axis=0)[0])
        for name, errors in (
            ("bias", with_clues),
            ("bias, one rate", without),
            ("bias, least squares", as_given),
        )
    }
    found = {"error": size, "one rate": other, "ratio": size / other} | bias
    found |= {"coverage": np.mean(covered), "of the clues": np.mean(clue_covered)}
    return {name: round(float(value), 3) for name, value in found.items()}


CASES = {
    "on two clues, noise 1": Case(1.0, (1.5, -1.5)),
    "on two good clues, noise 2": Case(2.0, (4.0, -4.0)),
    "on nothing, noise 1": Case(1.0, (0.0, 0.0)),
    "on x through a clue, noise 1.5": Case(1.5, (-3.0, 1.5), 0.8),
}


def rows(n_mixture: int, n_chain: int) -> list[dict]:
    """One line for each case and method; bias is that of the first coefficient, which is 1."""
    made = []
    for name, case in CASES.items():
        for method, make_model, n_sets in (
            ("mixture", MixtureRegressor, n_mixture),
            ("chain", chain, n_chain),
        ):
            if n_sets:
                facts = {"mismatches depend": name, "method": method, "sets": n_sets}
                made.append(facts | compare(case, make_model, n_sets))
                print(made[-1], flush=True)
    return made


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    counts, given = [200, 40], [word for word in sys.argv[1:] if word.isdigit()]
    counts[: len(given)] = map(int, given[:2])
    made = rows(*counts)
    if wants_json():
        command = f"python -m benchmarks.clues {counts[0]} {counts[1]} --json"
        write_result("clues", command, {"worth": made}, rows=N_ROWS)
