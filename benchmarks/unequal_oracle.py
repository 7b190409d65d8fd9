"""`python -m benchmarks.unequal_oracle`: what any fit to groups with missing rows and labels can do.

The sets are those of ``benchmarks.unequal`` ("groups of 15"). Beside the fit stand three oracles:

- **told**: the fit with equal counts to the rows and labels that do have a partner; which row
  belongs to which label stays lost inside groups;
- **maximum likelihood**: EM over partial matchings from the true coefficients with the true noise,
  share and density of strangers, long chains, and the last half of many iterations averaged;
- **equal counts**: the fit to all rows and labels, before any was removed.

``python -m benchmarks.unequal_oracle 20 0.2 0.5`` uses 20 sets at noise 0.2 and 0.5. With ``--json``
the table is kept in docs/results, where the guide takes it from.
"""

import sys
import warnings

import numpy as np
from docs.tables import wants_json, write_result
from scipy.stats import norm

from unshuffle import ShuffledRegressor, warm_up
from unshuffle.alignment.partial import PartialChain, Shares
from unshuffle.data.threads import Workers
from unshuffle.data.unequal import make_unequal_problem
from unshuffle.em.loop import average_last, run_em
from unshuffle.em.partial import PartialTable
from unshuffle.families.least_squares import LeastSquares

from .run import show
from .unequal import removed

N_ITER, N_SWEEPS = 120, 200
SHOWN = {
    "told": "told who has no partner",
    "ml": "maximum likelihood from the truth",
    "fit": "this fit",
}


class OracleChain(PartialChain):
    """The chain with the true prior odds and the true density of a label of nobody."""

    def __init__(self, problem, seed, workers, shares, spread):
        super().__init__(problem, seed, workers, N_SWEEPS, N_SWEEPS // 4)
        self.shares, self.spread = shares, spread

    def __call__(self, state, iteration, gain=None):
        problem = self.problem
        odds = np.repeat(self.shares.log_odds(problem.group_rows), problem.group_labels)
        height = np.log(state.noise_scale * np.sqrt(2.0 * np.pi))
        gain = odds - height - norm.logpdf(problem.y[: problem.n_open_labels], scale=self.spread)
        return super().__call__(state, iteration, gain)


class OracleTable(PartialTable):
    """EM that keeps the true noise and share."""

    noise = share = 0.0

    def solve(self, expected):
        return (
            super().solve(expected)._replace(noise_scale=self.noise, mismatch_rate=1.0 - self.share)
        )


def maximum_likelihood(some, coef, noise, kept, workers, seed):
    """Coefficients at the maximum that the truth leads to."""
    X, y, of_rows, of_labels = some
    problem = make_unequal_problem(X, y, of_rows, of_labels)
    solver = LeastSquares(problem.X, fit_intercept=True)
    spread = float(np.hypot(np.linalg.norm(coef), noise))
    chain = OracleChain(problem, seed, workers, Shares(kept, 1.0 - kept), spread)
    table = OracleTable(problem, solver, (0.0, 1.0), chain)
    table.noise, table.share = noise, kept
    theta = np.linalg.lstsq(table.Z, problem.X @ coef, rcond=None)[0]
    nobody = np.full(problem.n_rows, -1, dtype=np.int64)
    start = table.start(theta, noise, kept, nobody)
    result = run_em(table, start, max_iter=N_ITER, stop=lambda steps: False)
    return average_last(table, result, N_ITER // 2).coef


def one_set(seed, noise, share, workers):
    """Errors of the four fits."""
    whole, some, coef, _ = removed(seed, noise, share=share)
    rng = np.random.default_rng(seed)
    n, d = len(whole[0]), len(coef)
    rng.normal(size=(n, d)), rng.normal(size=d), rng.normal(size=n)
    rows, labels = rng.random((2, n)) >= share  # as in `removed`
    assert np.array_equal(whole[0][rows], some[0])
    both = rows & labels
    X, y, groups, _ = whole
    told = X[both], y[both], groups[both], groups[both]
    fits = {
        "fit": ShuffledRegressor(random_state=seed).fit_unpaired(*some, unmatched="model").coef_,
        "equal": ShuffledRegressor(random_state=seed).fit_unpaired(*whole).coef_,
        "told": ShuffledRegressor(random_state=seed).fit_unpaired(*told).coef_,
        "ml": maximum_likelihood(some, coef, noise, 1.0 - share, workers, seed),
    }
    return {name: float(np.linalg.norm(found - coef)) for name, found in fits.items()}


def main(arguments):
    """Print a line for each noise."""
    keep = wants_json()
    arguments = [word for word in arguments if word != "--json"]
    warnings.simplefilter("ignore")
    warm_up()
    n_sets = int(arguments[0]) if arguments else 10
    noises = [float(text) for text in arguments[1:]] or [0.1, 0.2, 0.5]
    rows = []
    with Workers(1) as workers:
        for noise in noises:
            errors = [one_set(seed, noise, 0.1, workers) for seed in range(n_sets)]
            mean = {name: float(np.mean([e[name] for e in errors])) for name in errors[0]}
            rows.append({
                "noise": noise,
                **{name: round(mean[key] / mean["equal"], 2) for key, name in SHOWN.items()},
            })  # fmt: skip
    show(rows)
    if keep:
        command = f"python -m benchmarks.unequal_oracle {n_sets} --json"
        write_result("unequal", command, {"oracles": rows}, sets=n_sets)


if __name__ == "__main__":
    main(sys.argv[1:])
