"""`python -m benchmarks.posterior`: is the sampler calibrated, and what do its joint moves bring?"""

import sys
import time
import warnings

import numpy as np

from benchmarks.calibration import CALIBRATION, CASES, calibration_ranks, rank_p_value
from unshuffle import ShuffledRegressor, StochasticEMRegressor, warm_up
from unshuffle.data.threads import Workers
from unshuffle.datasets import make_shuffled_regression
from unshuffle.families.least_squares import LeastSquares
from unshuffle.inference.parameter_prior import weakly_informative
from unshuffle.inference.posterior import collect, dispersed_starts, run_chains
from unshuffle.inference.posterior_chain import ALL_MOVES, PosteriorChain
from unshuffle.inference.posterior_model import Model

from .run import show


class LabelsAsGiven(PosteriorChain):
    """Wrong on purpose: never moves a label."""

    def __init__(self, *arguments, **settings):
        super().__init__(*arguments, **settings | {"moves": frozenset()})


def calibration(n_sets=500, seed=12):
    """Simulation-based calibration; p below .05 means outside the 95 % simultaneous band."""
    rows = []
    for name, setting in CASES.items():
        for title, kind in (("sampler", PosteriorChain), ("labels as given", LabelsAsGiven)):
            ranks = calibration_ranks(setting, n_sets, seed, kind=kind)
            found = {quantity: rank_p_value(r, CALIBRATION.draws) for quantity, r in ranks.items()}
            rows.append({"set": name, "sampler": title, "sets": n_sets,
                         **{f"p {k}": round(p, 4) for k, p in found.items()},
                         "inside the band": f"{sum(p > 0.05 for p in found.values())} of {len(found)}"})  # fmt: skip
    return rows


def small_groups():
    """40 random groups of 15."""
    data = make_shuffled_regression(
        600, 4, noise=0.5, shuffle="groups", n_groups=40, group_by="random", random_state=0
    )
    model = StochasticEMRegressor(max_iter=200, random_state=0)
    return model.fit(data.X, data.y, groups=data.groups)


def noisy_groups():
    """60 random groups of 5 with much noise."""
    data = make_shuffled_regression(
        300, 3, noise=1.5, shuffle="groups", n_groups=60, group_by="random", random_state=0
    )
    model = StochasticEMRegressor(max_iter=200, random_state=0)
    return model.fit(data.X, data.y, groups=data.groups)


def linked():
    """30 % of the labels permuted."""
    data = make_shuffled_regression(
        500, 5, noise=0.5, shuffle="fraction", fraction=0.3, random_state=0
    )
    model = StochasticEMRegressor(mismatch_rate="estimate", max_iter=200, random_state=0)
    return model.fit(data.X, data.y)


def several_optima():
    """Fully shuffled, with more than one good match."""
    data = make_shuffled_regression(200, 2, noise=0.3, random_state=0)
    return ShuffledRegressor(pairing="lost", random_state=0).fit(data.X, data.y)


def joint_moves(n_draws=1000):
    """Effective draws a second of processor time, of the slowest quantity."""
    rows = []
    for name, make in (
        ("40 groups of 15, noise .5", small_groups),
        ("60 groups of 5, noise 1.5", noisy_groups),
        ("30 % mismatched, n=500", linked),
        ("fully shuffled, several optima", several_optima),
    ):
        fitted = make()
        row = {"set": name}
        for title, moves in (
            ("swaps given coefficients", {"swap"}),
            ("and carried labels", {"swap", "carry"}),
            ("and collapsed swaps", {"swap", "collapsed"}),
            ("all", ALL_MOVES),
        ):
            posterior, took = sample(fitted, frozenset(moves), n_draws)
            size = min(posterior.ess_bulk.values())
            row[title] = f"{size / took:.0f}/s (R-hat {max(posterior.r_hat.values()):.3f})"
        rows.append(row)
    return rows


def sample(fitted, moves, n_draws):
    """As `posterior()` does, with some of the moves only."""
    problem, prior = fitted._believed()
    solver = LeastSquares(problem.X, fit_intercept=True)
    model = Model(problem, solver, prior, weakly_informative(problem))
    optima = fitted._optima(model)
    starts = dispersed_starts(
        model, optima, fitted.noise_scale_, fitted._stochastic.permutations.state.perm,
        float(np.clip(fitted.mismatch_rate_, 0.01, 0.99)), n_chains=4, spread=2.0, seed=0,
    )  # fmt: skip
    chains = [
        PosteriorChain(model, start, 0, k, n_warmup=n_draws // 2, n_draws=n_draws, jumps=optima,
                       moves=moves)
        for k, start in enumerate(starts)
    ]  # fmt: skip
    begin = time.process_time()
    run_chains(chains, Workers(1), lambda done: None)
    took = time.process_time() - begin
    return collect(model, chains, fitted._feature_names(), True), took


SECTIONS = {
    "Effective samples a second, with and without joint moves": joint_moves,
    "Simulation-based calibration": calibration,
}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    warm_up()
    smaller = {"n_sets": int(sys.argv[1])} if len(sys.argv) > 1 else {}
    for title, section in SECTIONS.items():
        print(f"\n{title}", flush=True)
        show(section(**(smaller if section is calibration else {})))
