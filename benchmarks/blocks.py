"""`python -m benchmarks.blocks [sets] [fits]`: does `check_blocks` see labels exchanged inside blocks?

The first table has, for simulated sets of 600 rows and three features, how often each test rejects
at 5 %: with labels as they belong (the control), and with 30 % or all of them permuted inside
blocks. The second has what is at stake: the error of least squares and of `ShuffledRegressor`
without `groups` and with them, in 95 % radii of least squares in the true order.
"""

import itertools
import sys
import warnings

import numpy as np
from scipy.stats import f as fisher

from unshuffle import ShuffledRegressor, check_blocks, warm_up
from unshuffle.datasets.simulated import shuffle_inside

from .run import show

N_ROWS, COEF = 600, np.array([1.0, -0.5, 0.25])
SIZES, SHARES = (4, 10, 30), (0.1, 0.3)
EXCHANGED = (0.0, 0.3, 1.0)


def draw_noise(kind, X, rng):
    """Noise with standard deviation 1."""
    n = len(X)
    if kind == "t3":
        return rng.standard_t(3, n) / 3**0.5
    if kind == "lognormal":
        return (np.exp(rng.normal(size=n)) - np.exp(0.5)) / np.sqrt((np.e - 1) * np.e)
    if kind == "heteroscedastic":
        return rng.normal(size=n) * np.abs(X[:, 0])
    if kind == "shared by blocks":  # half of its variance; for blocks of ten
        return (rng.normal(size=n) + rng.normal(size=n // 10).repeat(10)) / 2**0.5
    return rng.normal(size=n)


NOISES = ("normal", "t3", "lognormal", "heteroscedastic")


def simulate(rng, size, share, exchanged, noise, coef=COEF):
    """Features, labels in the true order and as given, blocks.

    `share` of the features' variance lies between blocks. A row takes part in the exchange of its
    block with probability `exchanged`.
    """
    blocks = np.arange(N_ROWS) // size
    means = rng.normal(size=(N_ROWS // size, len(coef)))[blocks]
    X = share**0.5 * means + (1 - share) ** 0.5 * rng.normal(size=(N_ROWS, len(coef)))
    y = X @ coef + draw_noise(noise, X, rng)
    moving = rng.random(N_ROWS) < exchanged
    numbers = np.where(moving, blocks, N_ROWS + np.arange(N_ROWS))
    codes = np.unique(numbers, return_inverse=True)[1]
    source = shuffle_inside(np.random.RandomState(rng.integers(2**31)), codes)
    return X, y, y[source], blocks


def rejections(n_sets, size, share, noise, coef=COEF):
    """Shares of sets in which each test has p < 0.05, and in which an exchange is found."""
    line = {"noise": noise, "rows in a block": size, "between": share}
    for exchanged in EXCHANGED:
        rng = np.random.default_rng(1)
        checks = []
        for _ in range(n_sets):
            X, _, y, blocks = simulate(rng, size, share, exchanged, noise, coef)
            checks += check_blocks(X, y, blocks).checks
        title = f"{exchanged:.0%}"
        line[f"weaker, {title}"] = f"{np.mean([c.p_weaker < 0.05 for c in checks]):.3f}"
        line[f"equal, {title}"] = f"{np.mean([c.p_equal < 0.05 for c in checks]):.3f}"
        line[f"found, {title}"] = f"{np.mean([c.finding == 'exchange' for c in checks]):.3f}"
        if exchanged:
            factors = [c.factor.value for c in checks]
            line[f"factor, {title}"] = f"{np.median(factors):.2f}"
        else:
            # Common factor 1: how often its own test rejects, and how often the data say little.
            line["common, 0%"] = f"{np.mean([c.p_common < 0.05 for c in checks]):.3f}"
            # Two tests at 5 % each: an exchange or another difference, where there is neither.
            signs = [c.finding in {"exchange", "other difference"} for c in checks]
            line["any, 0%"] = f"{np.mean(signs):.3f}"
            line["unclear, 0%"] = f"{np.mean([c.finding == 'unclear' for c in checks]):.3f}"
    return line


def least_squares(X, y):
    """Slopes, and their covariance."""
    design = X - X.mean(axis=0)
    coef = np.linalg.lstsq(design, y - y.mean(), rcond=None)[0]
    variance = np.sum((y - y.mean() - design @ coef) ** 2) / (len(y) - len(coef) - 1)
    return coef, variance * np.linalg.inv(design.T @ design)


def stakes(n_sets, size, share, exchanged):
    """Errors in 95 % radii of least squares in the true order; verdicts without groups."""
    rng = np.random.default_rng(2)
    errors = {name: [] for name in ("OLS as given", "fit without groups", "fit with groups")}
    rates, trusted = [], 0
    for seed in range(n_sets):
        X, truth, y, blocks = simulate(rng, size, share, exchanged, "normal")
        _, covariance = least_squares(X, truth)
        radius = 3 * fisher.ppf(0.95, 3, N_ROWS - 4)
        model = ShuffledRegressor(random_state=seed).fit(X, y)
        rates.append(getattr(model, "mismatch_rate_", np.nan))
        trusted += model.verdict_.level == "trust"
        found = {
            "OLS as given": least_squares(X, y)[0],
            "fit without groups": model.coef_,
            "fit with groups": ShuffledRegressor(random_state=seed).fit(X, y, groups=blocks).coef_,
        }
        for name, coef in found.items():
            off = coef - COEF
            errors[name].append((off @ np.linalg.solve(covariance, off) / radius) ** 0.5)
    line = {"rows in a block": size, "between": share, "exchanged": f"{exchanged:.0%}"}
    line |= {name: f"{np.mean(found):.2f}" for name, found in errors.items()}
    line["trusted without groups"] = f"{trusted} of {n_sets}"
    line["rate without groups"] = f"{np.nanmean(rates):.2f}" if not np.all(np.isnan(rates)) else ""
    return line


def main(n_sets=500, n_fits=10):
    """Print both tables."""
    error = (0.05 * 0.95 / n_sets) ** 0.5
    print(f"Rejections at 5 % of {n_sets} sets; Monte Carlo error of the control {error:.3f}")
    cases = itertools.product(NOISES, SIZES, SHARES)
    lines = [rejections(n_sets, size, share, noise) for noise, size, share in cases]
    # Fifteen blocks, one more than three features need at least.
    lines += [rejections(n_sets, 40, 0.3, noise) for noise in NOISES]
    lines.append(rejections(n_sets, 10, 0.3, "shared by blocks"))
    lines.append(rejections(n_sets, 10, 0.3, "normal", np.zeros(3)) | {"noise": "normal, slopes 0"})
    show(lines)
    print(f"\nErrors in 95 % radii of OLS in the true order, means of {n_fits} sets")
    # With much variance between blocks the order given stays informative, and fits are trusted.
    cases = itertools.product(SIZES, (*SHARES, 0.6), EXCHANGED)
    show([stakes(n_fits, *case) for case in cases])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    warm_up()
    main(*map(int, sys.argv[1:]))
