"""`python -m benchmarks.verdict_thresholds`: what each threshold of the verdict lets through.

Run on the family of sets that thresholds are set on. A fit is sound when its error is below twice
the 95 % radius of a fit with known order. Every line moves one threshold and leaves the others.
"""

import sys
import warnings

from unshuffle import warm_up
from unshuffle.inference.settings import CHECKS

from .run import show
from .verdict_sets import SETTING, collect, trusted

DIALS = {
    "match against unrelated labels": (CHECKS.match_p_caution, (0.002, 0.005, 0.01, 0.02, 0.05)),
    "recoverability": (CHECKS.refit_caution, (0.05, 0.1, 0.2, 0.3, 0.5, 1.0)),
    "precision": (CHECKS.inflation_caution, (1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 5.0, 100.0)),
    "sensitivity to the noise": (CHECKS.noise_caution, (0.05, 0.1, 0.2, 0.25, 0.5, 10.0)),
    "information in the order given": (CHECKS.order_p_caution, (1e-6, 1e-3, 0.05)),
    "share of mismatches": (CHECKS.mismatch_caution, (0.4, 0.5, 0.6, 0.7, 0.8, 0.95)),
}
SOUND = 2.0


def operating_points(rows, check, thresholds):
    """For each threshold: how many of the sound and of the unsound fits would be trusted."""
    sound = [row for row in rows if row["error"] < SOUND]
    unsound = [row for row in rows if row["error"] >= SOUND]
    for threshold in thresholds:
        yield (
            threshold,
            sum(trusted(row, check, threshold) for row in sound),
            len(sound),
            sum(trusted(row, check, threshold) for row in unsound),
            len(unsound),
        )


def table(rows):
    """One line per check and threshold; the chosen ones are marked."""
    lines = []
    for check, (chosen, thresholds) in DIALS.items():
        asked = [row for row in rows if check in row["reasons"]]
        for threshold, good, n_good, bad, n_bad in operating_points(asked, check, thresholds):
            lines.append(
                {
                    "check": check,
                    "threshold": threshold,
                    "chosen": "<--" if threshold == chosen else "",
                    "sound fits trusted": f"{good} of {n_good}",
                    "unsound fits trusted": f"{bad} of {n_bad}",
                }
            )
    return lines


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    warm_up()
    show(table(collect(SETTING, int(sys.argv[1]) if len(sys.argv) > 1 else 300, again=True)))
