"""Large data: precision per second, time and memory against n, threads, grid Sinkhorn, leaps.

Timings are ratios within one run where that is possible; the others are seconds on this machine.
``python -m benchmarks.scale 1e6`` stops at a million rows. ``--json`` keeps two tables in
docs/results, for docs/guides/bigger-data.md.
"""

import json
import subprocess
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from docs.tables import wants_json, write_result

from unshuffle import ShuffledRegressor, StochasticEMRegressor, warm_up
from unshuffle.alignment.priors import Prior
from unshuffle.alignment.settings import SinkhornSettings
from unshuffle.alignment.sinkhorn import SinkhornAlignment
from unshuffle.alignment.state import State
from unshuffle.data.problem import Problem, make_problem
from unshuffle.data.threads import Workers
from unshuffle.datasets import make_shuffled_regression
from unshuffle.em.settings import EMSettings, SquaremSettings
from unshuffle.fits.data import InMemory
from unshuffle.fits.settings import StochasticSettings
from unshuffle.fits.stochastic import fit_stochastic
from unshuffle.kernels import swap, sweep_blocks

from .run import show

LARGEST = 10_000_000
ROWS_PER_GROUP = 100


def precision():
    """Mean squared error of the expected labels against a long run, for equal time."""
    rows = []
    for n, noise, n_sweeps in ((1_000, 0.05, 2_000), (100_000, 0.05, 60), (1_000_000, 0.05, 20)):
        rng = np.random.default_rng(0)
        mu = np.sort(rng.normal(size=n))
        # Labels beside their own rows are a draw from the posterior: neither chain has to warm up.
        y = mu + noise * rng.normal(size=n)
        truth = np.mean([_sweeps(mu, y, noise, 10 * n_sweeps, key) for key in (1, 2)], axis=0)
        best, errors = [np.inf, np.inf], [[], []]
        steps = n * n_sweeps // 4
        _sweeps(mu, y, noise, 1, 3), _random_pairs(mu, y, noise, 1, 3)  # load them first
        share = _seconds(lambda: _sweeps(mu, y, noise, n_sweeps, 3))  # noqa: B023
        share /= _seconds(lambda: _random_pairs(mu, y, noise, steps, 3))  # noqa: B023
        steps = int(steps * share)  # as many as take the same time
        for key in range(3, 6):
            begin = time.perf_counter()
            mean = _sweeps(mu, y, noise, n_sweeps, key)
            best[0] = min(best[0], time.perf_counter() - begin)
            errors[0].append(np.mean((mean - truth) ** 2))
            begin = time.perf_counter()
            mean = _random_pairs(mu, y, noise, steps, key)
            best[1] = min(best[1], time.perf_counter() - begin)
            errors[1].append(np.mean((mean - truth) ** 2))
        ours, pairs = (float(np.mean(e)) / noise**2 for e in errors)
        rows.append({"n": n, "sweeps s": round(best[0], 3), "error": round(ours, 4),
                     "random pairs s": round(best[1], 3), "their error": round(pairs, 4),
                     "gain": round(pairs * best[1] / (ours * best[0]), 1)})  # fmt: skip
    return rows


def _sweeps(mu, y, noise, n_sweeps, key):
    n = len(mu)
    rows = sweep_blocks.SweptRows(mu, y, np.empty(0), np.empty(0, dtype=bool))
    answers = sweep_blocks.Answers(np.arange(n), np.empty(n), np.empty(n))
    order, starts = np.arange(n, dtype=np.int32), np.array([0, n])
    sweep_blocks.sort_blocks(mu, starts, 0, 1, order, True)
    sweep_blocks.sweep_blocks(
        rows, answers, order, starts, 0, 1, noise**-2.0,
        sweep_blocks.Streams(np.uint64(key), 0, np.arange(1)), sweep_blocks.Plan(0, n_sweeps),
        sweep_blocks.new_sweep_space(n, False),
    )  # fmt: skip
    return answers.expected


def _random_pairs(mu, y, noise, steps, key):
    slots = np.zeros((len(mu), 4))
    slots[:, swap.MU], slots[:, swap.HELD] = mu, y
    perm = np.arange(len(mu))
    swap.advance_group(slots, perm, 0, len(mu), noise**-2.0, np.uint64(key), 0, steps, 0, 1)
    swap.close_averages(slots, 0, len(mu), steps)
    return slots[:, swap.SUM]


def mostly_right():
    """n = 1e5, d = 10, noise .5, 20 % mismatched: whole fits, best of three."""
    data = make_shuffled_regression(
        100_000, 10, noise=0.5, shuffle="fraction", fraction=0.2, random_state=0
    )
    rows = []
    for model in (
        StochasticEMRegressor(mismatch_rate="estimate", n_jobs=2, random_state=0),
        ShuffledRegressor(n_jobs=2, random_state=0),
    ):
        seconds = min(_seconds(lambda model=model: model.fit(data.X, data.y)) for _ in range(3))
        rows.append({"fit": type(model).__name__, "s": round(seconds, 2), "target s": 2.0,
                     "iterations": model.n_iter_, "rate": round(model.mismatch_rate_, 3),
                     "coefficient error": round(_error(model.coef_, data.coef), 4),
                     "standard error": round(_norm(model.standard_errors_[1:]), 4)})  # fmt: skip
    return rows


CASE = """
import json, sys, time
from pathlib import Path
import numpy as np
from unshuffle import StochasticEMRegressor, warm_up
from benchmarks.scale import grouped, one_group
warm_up()
def peak():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) * 1024
before = peak()
kind, n, n_jobs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
X, y, groups, coef = grouped(n) if kind == "groups" else one_group(n)
held = peak() - before
settings = {} if kind == "groups" else {"mismatch_rate": "estimate"}
model = StochasticEMRegressor(max_iter=200, n_jobs=n_jobs, random_state=0, streaming="never", **settings)
begin, work = time.perf_counter(), time.process_time()
model.fit(X, y, groups=groups)
print(json.dumps({"s": time.perf_counter() - begin, "cpu s": time.process_time() - work,
    "iterations": model.n_iter_, "converged": model.converged_,
    "error": float(np.linalg.norm(model.coef_ - coef)),
    "se": float(np.linalg.norm(model.standard_errors_[1:])),
    "memory": (peak() - before) / (X.nbytes + y.nbytes)}))
"""


def grouped(n, d=10, noise=0.5):
    """Groups of 100 rows with their labels shuffled, made without copies."""
    rng, coef = np.random.default_rng(0), np.linspace(-1, 1, d)
    X, y = np.empty((n, d)), np.empty(n)
    for first in range(0, n, 1000 * ROWS_PER_GROUP):
        rows = slice(first, min(first + 1000 * ROWS_PER_GROUP, n))
        X[rows] = rng.normal(size=X[rows].shape)
        labels = X[rows] @ coef + noise * rng.normal(size=len(X[rows]))
        y[rows] = rng.permuted(labels.reshape(-1, ROWS_PER_GROUP), axis=1).ravel()
    return X, y, np.repeat(np.arange(n // ROWS_PER_GROUP), ROWS_PER_GROUP), coef


def one_group(n):
    data = make_shuffled_regression(
        n, 10, noise=0.5, shuffle="fraction", fraction=0.2, random_state=0
    )
    return data.X, data.y, None, data.coef


def _case(kind, n, n_jobs):
    command = [sys.executable, "-W", "ignore", "-c", CASE, kind, str(n), str(n_jobs)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(answer.stdout)


def _row(name, facts, target):
    return {"set": name, "s": round(facts["s"], 1), "target s": target,
            "cpu s": round(facts["cpu s"], 1), "iterations": facts["iterations"],
            "converged": facts["converged"], "error": round(facts["error"], 5),
            "standard error": round(facts["se"], 5),
            "memory / data": round(facts["memory"], 2)}  # fmt: skip


def large():
    """Whole fits to convergence, on two threads, each in a process of its own."""
    n = min(LARGEST, 10_000_000)
    rows = [_row(f"n={n:.0e}, groups of 100", _case("groups", n, 2), round(90 * n / 1e7, 1))]
    n = min(LARGEST, 1_000_000)
    facts = _case("one", n, 2)
    return [*rows, _row(f"n={n:.0e}, one group, 20 % mismatched", facts, round(30 * n / 1e6, 1))]


def growth():
    """Whole fits against n, groups of 100, one thread; the slope of the logarithms.

    From 200,000 rows on fits take few long iterations (Newton's) instead of many short ones, so
    that only whole fits can be compared.
    """
    sizes = [n for n in (10_000, 100_000, 1_000_000, 10_000_000) if n <= LARGEST]
    rows, seconds = [], []
    for n in sizes:
        facts = _case("groups", n, 1)
        seconds.append(facts["cpu s"])
        rows.append({"n": n, "cpu s": round(facts["cpu s"], 2), "iterations": facts["iterations"],
                     "cpu ns / row": round(1e9 * facts["cpu s"] / n)})  # fmt: skip
    slope = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    return [*rows, {"n": "exponent (target <= 1.1)", "cpu s": round(slope, 3)}]


def _five_iterations(n_jobs):
    X, y, groups, _ = grouped(400_000)
    model = StochasticEMRegressor(tol=0, max_iter=5, n_jobs=n_jobs, random_state=0)
    return min(_seconds(lambda: model.fit(X, y, groups=groups)) for _ in range(3))


def threads():
    """Five iterations, 4,000 groups of 100; beside what two processes gain on this machine."""
    one, two = _five_iterations(1), _five_iterations(2)
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(_warm, range(2)))
        both = max(pool.map(_five_iterations, (1, 1)))
    return [{"1 thread s": round(one, 2), "2 threads s": round(two, 2),
             "gain (target >= 1.6)": round(one / two, 2),
             "gain of two processes": round(2 * one / both, 2)}]  # fmt: skip


def _warm(_):
    warm_up()


def grid():
    """Largest difference of expected labels from the dense matrix, in units of the noise."""
    rows = []
    for n, noise, rate in ((1_500, 0.5, None), (1_500, 0.1, None), (3_000, 0.3, 0.2)):
        rng = np.random.default_rng(0)
        mu = rng.normal(size=n)
        y = mu + noise * rng.normal(size=n)
        moved = rng.permutation(n)[: int((rate or 1) * n)]
        y[moved] = y[rng.permutation(moved)]
        problem = Problem(np.empty((n, 0)), y, np.array([0, n]), None, 1)
        state = State(np.empty(0), 0.0, noise, 0.0, rate or 0.0, mu, y, np.arange(n))
        found, seconds = {}, {}
        for name, smallest in (("grid", 1_000), ("dense", 10**9)):
            settings = SinkhornSettings(smallest_grid_block=smallest)
            prior = Prior(rate) if rate else Prior()
            align = SinkhornAlignment(problem, prior, settings=settings)
            begin = time.perf_counter()
            found[name] = align(state, 0).expected
            seconds[name] = time.perf_counter() - begin
        off = np.abs(found["grid"] - found["dense"]).max() / noise
        rows.append({"n": n, "noise / spread": noise, "mismatched": rate or "lost",
                     "difference (target < 1e-3)": f"{off:.1e}",
                     "grid s": round(seconds["grid"], 3),
                     "dense s": round(seconds["dense"], 3)})  # fmt: skip
    return rows


def extrapolation():
    """Iterations (each two passes over X) until EM stops, with and without extrapolation."""
    X, y, groups, coef = grouped(20_000)
    rows = []
    for alignment in ("chain", "sinkhorn"):
        for name, longest in (("extrapolated", 12.0), ("plain", 1.0)):
            em = EMSettings(squarem=SquaremSettings(longest=longest))
            settings = StochasticSettings(0, alignment=alignment, max_iter=400, em=em)
            problem = make_problem(X, y, groups, np.zeros(len(y), dtype=bool))
            with Workers(1) as workers:
                fit = fit_stochastic(InMemory(problem, workers), settings)
            rows.append({"alignment": alignment, "steps": name,
                         "iterations": fit.iterations.n_iter,
                         "noise": round(fit.noise_scale, 4),
                         "coefficient error": round(_error(fit.coef, coef), 4)})  # fmt: skip
    return rows


def _seconds(function):
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def _norm(values):
    return float(np.linalg.norm(values))


def _error(coef, truth):
    return _norm(coef - truth)


SECTIONS = {
    "Precision of expected labels for equal time (target: 5 at n = 1e6, never below 0.8)": precision,
    "Mostly right, n = 1e5, d = 10, 20 % mismatched, warm": mostly_right,
    "Grid Sinkhorn beside the dense matrix": grid,
    "Extrapolation: iterations until EM stops, 200 groups of 100": extrapolation,
    "Threads": threads,
    "Time against n": growth,
    "Large fits (memory target: 2.5)": large,
}


def page_tables(found):
    """What docs/guides/bigger-data.md shows of the sections."""
    orders = ("lost inside groups of 100", "one group, 20 % mismatched")
    small = (orders[1], "the same by `ShuffledRegressor`, with verdict")
    sizes = (min(LARGEST, 10_000_000), min(LARGEST, 1_000_000), 100_000, 100_000)
    rows = [*found[large], *found[mostly_right]]
    return {
        "fits": [
            {"rows": n, "order": order, "s": row["s"], "iterations": row["iterations"],
             "memory / data": row.get("memory / data")}
            for n, order, row in zip(sizes, (*orders, *small), rows, strict=True)
        ],
        "growth": [
            {"rows": row["n"], "processor s": row["cpu s"], "iterations": row["iterations"]}
            for row in found[growth][:-1]
        ],
        "ratios": [
            {"what": "exponent of n", "value": round(found[growth][-1]["cpu s"], 2)},
            {"what": "two threads, times as fast",
             "value": found[threads][0]["gain (target >= 1.6)"]},
            {"what": "two processes, times as fast",
             "value": found[threads][0]["gain of two processes"]},
        ],
    }  # fmt: skip


def main():
    global LARGEST  # noqa: PLW0603
    keep = wants_json()
    if len(sys.argv) > 1:
        LARGEST = int(float(sys.argv[1]))
    warnings.simplefilter("ignore")
    warm_up()
    found = {}
    for title, section in SECTIONS.items():
        print(f"\n{title}", flush=True)
        found[section] = section()
        show(found[section])
    if keep:
        command = "python -m benchmarks.scale --json"
        write_result("scale", command, page_tables(found), features=10, noise=0.5)


if __name__ == "__main__":
    main()
