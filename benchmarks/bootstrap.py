"""`python -m benchmarks.bootstrap [sets]`: ways to an interval, what they cover and cost."""

import sys
import time
import warnings
from types import SimpleNamespace

import numpy as np

from unshuffle import StochasticEMRegressor, warm_up

from .inference import linked, small_groups
from .run import show

FIRST_SEED = 30_000  # not used when the kind of interval was chosen
METHODS = ("information", "sandwich", "bootstrap", "percentiles")


def uneven(seed):
    """100 groups of 4 whose noise grows with the first feature, order lost."""
    rng = np.random.default_rng(seed)
    X, coef = rng.normal(size=(400, 2)), np.ones(2)
    y = X @ coef + 0.5 * np.abs(X[:, 0]) * rng.normal(size=400)
    groups = np.repeat(np.arange(100), 4)
    y = y[np.lexsort((rng.random(400), groups))]
    return SimpleNamespace(X=X, y=y, groups=groups, coef=coef)


SETS = (
    ("n=500, d=5, noise .5, 20 % mismatched", linked, {"mismatch_rate": "estimate"}, 0.5, 0.2),
    ("40 groups of 15, d=4, noise .5", small_groups, {}, 0.5, None),
    ("100 groups of 4, d=2, noise .5 |x_1|", uneven, {}, None, None),
)


def coverage(n_sets=200, n_boot=200):
    """Share of 95 % intervals that cover: coefficients (no intercept), noise, mismatches."""
    rows = []
    for name, make, settings, noise, rate in SETS:
        kept = {method: ([], [], [], []) for method in METHODS}
        refused, fitting, drawn = dict.fromkeys(METHODS, 0), [], None
        for seed in range(FIRST_SEED, FIRST_SEED + n_sets):
            data = make(seed)
            begin = time.perf_counter()
            model = StochasticEMRegressor(max_iter=200, random_state=seed, **settings)
            model.fit(data.X, data.y, groups=data.groups)
            fitting.append(time.perf_counter() - begin)
            for method, (coefs, noises, rates, seconds) in kept.items():
                try:
                    begin = time.perf_counter()
                    if method == "bootstrap":
                        drawn = model.bootstrap(n_boot)
                    elif method != "percentiles":
                        model.conf_int(method=method)
                    seconds.append(time.perf_counter() - begin)
                    found = intervals(model, method, drawn, rate is not None)
                except ValueError:  # the information is not positive
                    refused[method] += 1
                    continue
                low, high = found[0][1:].T
                coefs.append((low <= data.coef) & (data.coef <= high))
                noises.append(noise is not None and found[1][0] <= noise <= found[1][1])
                rates.append(rate is not None and found[2][0] <= rate <= found[2][1])
        for method, (coefs, noises, rates, seconds) in kept.items():
            error = np.std(np.mean(coefs, axis=1)) / np.sqrt(len(coefs))
            rows.append({
                "set": name, "method": method, "sets": len(coefs),
                "coefficients": round(float(np.mean(coefs)), 3),
                "Monte Carlo error": round(float(error), 3),
                "first": round(float(np.mean(coefs, axis=0)[0]), 3),
                "noise": "" if noise is None else round(float(np.mean(noises)), 3),
                "mismatches": "" if rate is None else round(float(np.mean(rates)), 3),
                "refused": refused[method],
                "cost in fits": "" if method == "percentiles"
                else round(float(np.median(seconds) / np.median(fitting)), 2),
            })  # fmt: skip
    return rows


def intervals(model, method, drawn, has_rate):
    """Intervals of coefficients, noise and rate of mismatches."""
    if method == "bootstrap":
        rate = drawn.mismatch_rate_interval() if has_rate else None
        return drawn.interval(), drawn.noise_scale_interval(), rate
    if method == "percentiles":  # of the same replicates; what the library does not use
        draws = (drawn.draws, drawn.noise_scale_draws, drawn.mismatch_rate_draws)
        return [np.quantile(d, [0.025, 0.975], axis=0, method="weibull").T for d in draws]
    rate = model.mismatch_rate_interval(method=method) if has_rate else None
    return model.conf_int(method=method), model.noise_scale_interval(method=method), rate


SECTIONS = {"Information, sandwich and bootstrap": coverage}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    warm_up()
    for title, section in SECTIONS.items():
        print(f"\n{title}", flush=True)
        show(section(*(int(word) for word in sys.argv[1:3])))
