"""Noise that is not normal, and labels that belong to nobody, beside what users have.

`python -m benchmarks.noise [--sets 200]` prints slopes, coverage and suspects on simulated sets:
gross errors, heavy tails and skew in correctly paired tables, the same with exchanged labels, and
weak signals. Coefficients are compared with the truth.
"""

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import HuberRegressor, LinearRegression

from unshuffle import MixtureRegressor, ShuffledRegressor

from .run import show

TWO = np.array([1.0, -0.5])
THREE = np.array([1.0, -0.5, 0.5])


class Example(NamedTuple):
    """A simulated set, its labels in their own order too, and the truth behind it."""

    X: np.ndarray
    given: np.ndarray
    ordered: np.ndarray
    slopes: np.ndarray
    moved: np.ndarray
    off: np.ndarray


def draw(law, rng, n):
    """Noise of unit standard deviation."""
    if law == "t3":
        return rng.standard_t(3, n) / 3**0.5
    if law == "lognormal":
        return (np.exp(rng.normal(size=n)) - np.exp(0.5)) / (np.exp(2.0) - np.exp(1.0)) ** 0.5
    return rng.normal(size=n)


def exchange(rng, y, share):
    """Labels of a random subset permuted; the rows whose label changed."""
    rows = rng.permutation(len(y))[: round(share * len(y))]
    moved = y.copy()
    moved[rows] = y[rng.permutation(rows)]
    return moved, np.flatnonzero(moved != y)


def gross(seed, n_errors):
    """200 rows, noise .5, some labels off by 5."""
    rng = np.random.default_rng([seed, n_errors])
    X = rng.normal(size=(200, 2))
    y = X @ TWO + 0.5 * rng.normal(size=200)
    rows = rng.permutation(200)[:n_errors]
    y[rows] += 5.0 * rng.choice([-1.0, 1.0], n_errors)
    return Example(X, y, y, TWO, np.empty(0, dtype=int), rows)


def paired(seed, law, share, n=1000, r2=0.5, slopes=TWO):
    """Features that explain a share `r2` of the variance, and a share of labels exchanged."""
    rng = np.random.default_rng([seed, round(100 * share), n])
    X = rng.normal(size=(n, len(slopes)))
    scale = (slopes @ slopes * (1.0 - r2) / r2) ** 0.5
    y = X @ slopes + scale * draw(law, rng, n)
    given, moved = exchange(rng, y, share)
    return Example(X, given, y, slopes, moved, np.empty(0, dtype=int))


def measure(seed, make):
    """One set, all methods."""
    X, y, ordered, slopes, moved, off = make(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ShuffledRegressor(random_state=0).fit(X, y)
        named = ShuffledRegressor(noise="mixture", random_state=0).fit(X, y)
        mixture = MixtureRegressor(noise="auto").fit(X, y)
        normal = MixtureRegressor().fit(X, y)
        huber = HuberRegressor(max_iter=1000).fit(X, y)
    table = model._suspects(0.5, 1)
    called = table["row"][table["kind"] == "mismatched"]
    wrong = np.setdiff1d(table["row"], np.concatenate([moved, off]))
    coefs = {
        "ShuffledRegressor": model.coef_, "noise='mixture'": named.coef_,
        "mixture, law chosen": mixture.coef_,
        "mixture, normal": normal.coef_, "Huber": huber.coef_,
        "OLS as given": LinearRegression().fit(X, y).coef_,
        "known order": LinearRegression().fit(X, ordered).coef_,
    }  # fmt: skip
    return {
        "error": {name: float(np.linalg.norm(c - slopes)) for name, c in coefs.items()},
        "slope": float(model.coef_[0]),
        "covered": inside(model, slopes),
        "covered, named": inside(named, slopes),
        "rate": float(model.mismatch_rate_),
        "mixture rate": float(mixture.mismatch_rate_),
        "limit holds": bool(model.mismatch_limit_ >= len(moved) / len(y)),
        "called": len(called) / len(y),
        "hits": len(np.intersect1d(called, moved)),
        "n called": len(called),
        "false": len(wrong),
        "found off": len(np.intersect1d(table["row"], off)),
        "n off": len(off),
        "level": model.verdict_.level,
        "least squares": model.start_ == "least squares",
        "p": float(model.mismatch_pvalue_),
    }


def inside(model, slopes):
    """Whether each interval holds its slope."""
    low, high = model.conf_int()[1:].T
    return ((low < slopes) & (high > slopes)).tolist()


def summarise(name, found):
    """One line of each table."""
    n_called = sum(r["n called"] for r in found)
    line = {
        "set": name,
        "slope": np.mean([r["slope"] for r in found]),
        "coverage": np.mean([r["covered"] for r in found]),
        "rate": np.nanmean([r["rate"] for r in found]),
        "limit holds": np.mean([r["limit holds"] for r in found]),
        "called mismatched": np.mean([r["called"] for r in found]),
        "precision": sum(r["hits"] for r in found) / n_called if n_called else None,
        "false suspects": np.mean([r["false"] for r in found]),
        "off found": np.mean([r["found off"] / max(r["n off"], 1) for r in found]),
        "p < .007": np.mean([r["p"] < 0.007 for r in found]),
        "trust": np.mean([r["level"] == "trust" for r in found]),
        "reject": np.mean([r["level"] == "reject" for r in found]),
    }
    errors = {"set": name} | {
        method: np.mean([r["error"][method] for r in found]) for method in found[0]["error"]
    }
    return _rounded(line), _rounded(
        errors
        | {
            "mixture rate": np.mean([r["mixture rate"] for r in found]),
            "coverage, noise='mixture'": np.mean([r["covered, named"] for r in found]),
        }
    )


def _rounded(line):
    return {k: round(float(v), 3) if isinstance(v, float) else v for k, v in line.items()}


def cases():
    """Name and maker of every kind of set."""
    found = {f"{k} gross errors": partial(gross, n_errors=k) for k in (2, 10, 20)}
    for law in ("t3", "lognormal", "normal"):
        for share in (0.0, 0.1, 0.2, 0.5):
            found[f"{law}, {share:.0%} exchanged"] = partial(paired, law=law, share=share)
    for law in ("t3", "lognormal", "normal"):
        for share in (0.0, 0.2, 0.5):
            name = f"strong signal, {law}, {share:.0%} exchanged"
            found[name] = partial(paired, law=law, share=share, r2=0.8, slopes=THREE)
    for r2 in (0.05, 0.1):
        found[f"normal, R² {r2:g}"] = partial(paired, law="normal", share=0.0, n=200, r2=r2)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="cases whose name holds this")
    options = parser.parse_args()
    lines, errors = [], []
    with ProcessPoolExecutor(options.jobs) as pool:
        for name, make in cases().items():
            if options.only in name:
                found = list(
                    pool.map(partial(measure, make=make), range(options.sets), chunksize=4)
                )
                line, error = summarise(name, found)
                lines.append(line)
                errors.append(error)
    print("Answers of ShuffledRegressor")
    show(lines)
    print("\nMean error of the coefficients")
    show(errors)


if __name__ == "__main__":
    main()
