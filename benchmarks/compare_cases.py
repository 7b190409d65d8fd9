"""What `benchmarks.compare` measures: each case makes its data and returns a function to time.

Everything goes through the public names, so that the same case runs on any two versions. A case
named "kernel" spends most of its time in one compiled loop.
"""

import json
import sys
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np

from unshuffle import (
    HardEMRegressor,
    ShuffledRegressor,
    StochasticEMRegressor,
    Streaming,
    warm_up,
)


def linear(n, d, noise=0.5, seed=0):
    """Labels in the right order."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ np.linspace(-1.0, 1.0, d) + noise * rng.normal(size=n)


def in_groups(n, d, n_groups, noise=0.5):
    """Labels permuted inside groups of equal size."""
    X, y = linear(n, d, noise)
    groups = np.arange(n) * n_groups // n
    source = np.lexsort((np.random.default_rng(1).random(n), groups))
    return X, y[source], groups


def swapped(n, d, fraction=0.2):
    """A fraction of the labels permuted among themselves."""
    X, y = linear(n, d)
    rng = np.random.default_rng(1)
    rows = rng.choice(n, size=round(fraction * n), replace=False)
    y[rows] = y[rng.permutation(rows)]
    return X, y


def sweeps(n, n_steps=10_000_000):
    """Sweeps of the chain. A fit with a temper computes no covariance."""
    X, y = linear(n, 1)
    model = StochasticEMRegressor(
        init=[-1.0], temper=1.01, tol=0, max_iter=1, n_steps=n_steps, random_state=0
    )
    return partial(model.fit, X, y)


def random_pairs(n=100_000, n_steps=20_000_000):
    """Random-pair proposals of the published variant."""
    X, y = linear(n, 1)
    model = StochasticEMRegressor(
        variant="published", max_iter=1, n_steps=n_steps, burn_in=0, thin=1, random_state=0
    )
    return partial(model.fit, X, y)


def sort_matching(n=500_000):
    """One hard step: labels sorted like the fitted values."""
    return partial(HardEMRegressor(n_init=1, max_iter=1).fit, *linear(n, 1))


def hard_steps(n=20_000):
    """Many hard steps from many starts."""
    return partial(HardEMRegressor(n_init=40, random_state=0).fit, *linear(n, 5))


def lost_in_groups():
    return partial(StochasticEMRegressor(random_state=0).fit, *in_groups(100_000, 5, 1000))


def mostly_right():
    return partial(ShuffledRegressor(random_state=0).fit, *swapped(100_000, 10))


def fully_shuffled():
    X, y = linear(300, 5, 0.1)
    y = np.random.default_rng(1).permutation(y)
    return partial(ShuffledRegressor(random_state=0).fit, X, y)


def forty_groups():
    return partial(StochasticEMRegressor(random_state=0).fit, *in_groups(500, 5, 40))


def in_passes():
    streaming = Streaming(rows_per_part=50_000)
    model = StochasticEMRegressor(streaming=streaming, random_state=0)
    return partial(model.fit, *in_groups(300_000, 5, 15_000))


def known_order():
    model = ShuffledRegressor(pairing="known", random_state=0)
    return partial(model.fit, *linear(1_000_000, 10))


CASES = {
    "kernel: chain sweeps, n=1e3": partial(sweeps, 1_000),
    "kernel: chain sweeps, n=1e5": partial(sweeps, 100_000),
    "kernel: random pairs, n=1e5": random_pairs,
    "kernel: sort matching, n=5e5": sort_matching,
    "kernel: hard EM steps, n=2e4": hard_steps,
    "fit: 1000 groups, n=1e5": lost_in_groups,
    "fit: mostly right, n=1e5, d=10": mostly_right,
    "fit: fully shuffled, n=300, d=5": fully_shuffled,
    "fit: 40 groups, n=500": forty_groups,
    "fit: in passes, n=3e5": in_passes,
    "fit: known order, n=1e6, d=10": known_order,
}


def seconds(work, at_least=0.3):
    """Processor time of one call; short ones are repeated and the mean is taken."""
    total = n_calls = 0
    while total < at_least:
        begin = time.process_time()
        work()
        total += time.process_time() - begin
        n_calls += 1
    return total / n_calls


def peak():
    """Largest resident memory of this process; ru_maxrss is inherited and does not serve."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def memory(n=1_000_000, d=10):
    """Peak memory of a fit to mostly right data, as a multiple of X and y and without these."""
    warm_up()
    ShuffledRegressor(random_state=0).fit(*swapped(2000, 2))
    before = peak()
    X, y = swapped(n, d)
    ShuffledRegressor(random_state=0).fit(X, y)
    return (peak() - before) / (X.nbytes + y.nbytes) - 1.0


def serve():
    """Print the names of the cases, then answer each name that is read with its time."""
    warnings.simplefilter("ignore")
    print(json.dumps(list(CASES)), flush=True)
    made = {}
    for line in sys.stdin:
        name = line.strip()
        if name not in made:
            made = {name: CASES[name]()}
        print(json.dumps(seconds(made[name])), flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["memory"]:
        print(json.dumps(memory()))
    else:
        serve()
