"""Plates of 96 samples on which some labels have moved: how many are found, and put back.

Two pairs of labels were swapped, and in one stretch of six wells every label moved by one place.
Run: ``python -m examples.swapped_samples`` from the root of the project (under a minute).
``--json`` writes the table of docs/guides/swapped-samples.md to docs/results.
"""

import sys

import numpy as np
import pandas as pd

from unshuffle import StochasticEMRegressor

COEF = np.array([1.0, -2.0, 0.5, 1.5, 0.0])
SWAPS = [(7, 11), (50, 57)]
BLOCK = range(60, 66)
N_PLATES = 10


def moved_order():
    """`order[i]` is the well whose label now stands beside well i."""
    order = np.arange(96)
    for i, j in SWAPS:
        order[[i, j]] = order[[j, i]]
    order[list(BLOCK)] = np.roll(list(BLOCK), 1)
    return order


def make_plate(seed, noise):
    """Features, labels as written down, labels as they should be."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(96, 5))
    y = X @ COEF + noise * rng.normal(size=96)
    return X, y[moved_order()], y


def try_plate(seed, noise, max_shift):
    """Moved labels found, false alarms, labels that are wrong after repair."""
    X, y, y_true = make_plate(seed, noise)
    model = StochasticEMRegressor(mismatch_rate="estimate", max_shift=max_shift, random_state=0)
    suspected = model.fit(X, y).match_proba_ < 0.5
    moved = moved_order() != np.arange(96)
    wrong = np.sum(model.repair(y) != y_true)
    return np.sum(suspected & moved), np.sum(suspected & ~moved), wrong


def many_plates():
    """Means over plates, for three levels of noise and three limits of the shift."""
    rows = []
    for noise in (0.1, 0.3, 1.0):
        for max_shift in (None, 8, 2):
            counts = [try_plate(seed, noise, max_shift) for seed in range(N_PLATES)]
            found, alarms, wrong = (round(float(mean), 1) for mean in np.mean(counts, axis=0))
            rows.append(
                {
                    "noise": noise,
                    "max_shift": str(max_shift),
                    "found of 10": found,
                    "false alarms": alarms,
                    "wrong after repair": wrong,
                }
            )
    return rows


def main():
    """Print the table, and keep it if asked to."""
    rows = many_plates()
    print(pd.DataFrame(rows).to_string(index=False))
    if "--json" in sys.argv:
        from docs.tables import write_result

        command = "python -m examples.swapped_samples --json"
        write_result("swapped-samples", command, {"plates": rows}, plates=N_PLATES)


if __name__ == "__main__":
    main()
