"""`python -m benchmarks.audited_strata [SETS]`: audits per stratum in a likelihood fit.

1,000 rows in two strata, 40 % and 10 % of whose labels are exchanged, each audited with 60 links;
noise 1. Printed are the coverage of 95 % intervals of the slopes and their mean length: with the
audits, with the same rates taken for known, with the true rates, and with one audit of 120 links
over both strata.
"""

import sys
import warnings

import numpy as np

from unshuffle import Audit, StochasticEMRegressor

from .run import show

N, AUDITED, RATES, COEF = 1000, 60, {"a": 0.4, "b": 0.1}, np.array([1.0, -0.5])


def make(seed):
    """A linked file and what its audits found."""
    rng = np.random.default_rng(seed)
    X, strata = rng.normal(size=(N, 2)), rng.choice(list(RATES), size=N)
    # Strata differ in their features, as linked files do.
    X[strata == "a", 0] += 0.5
    y = X @ COEF + rng.normal(size=N)
    rate = np.array([RATES[name] for name in strata])
    moved = rng.permutation(np.flatnonzero(rng.random(N) < rate))
    y[moved] = y[np.roll(moved, 1)]
    wrong = np.zeros(N, dtype=bool)
    wrong[moved] = True
    audits = {}
    for name in RATES:
        checked = rng.choice(np.flatnonzero(strata == name), AUDITED, replace=False)
        audits[name] = Audit(AUDITED, int(wrong[checked].sum()))
    whole = Audit(2 * AUDITED, int(wrong[rng.choice(N, 2 * AUDITED, replace=False)].sum()))
    return X, y, strata, audits, whole


def main():
    """Print the table."""
    warnings.simplefilter("ignore")
    n_sets = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    names = ("audits of strata", "rates taken for known", "true rates", "one audit")
    inside, lengths = {name: [] for name in names}, {name: [] for name in names}
    for seed in range(n_sets):
        X, y, strata, audits, whole = make(seed)
        known = {name: audit.interior_rate for name, audit in audits.items()}
        for name, rate in zip(names, (audits, known, RATES, whole), strict=True):
            model = StochasticEMRegressor(mismatch_rate=rate, random_state=seed)
            model.fit(X, y, strata=None if rate is whole else strata)
            low, high = model.conf_int()[1:].T
            inside[name].append((low <= COEF) & (high >= COEF))
            lengths[name].append(high - low)
    show([
        {"rate": name, "sets": n_sets, "coverage": round(float(np.mean(inside[name])), 3),
         "length": round(float(np.mean(lengths[name])), 3)}
        for name in names
    ])  # fmt: skip


if __name__ == "__main__":
    main()
