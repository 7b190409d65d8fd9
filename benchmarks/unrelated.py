"""`python -m benchmarks.unrelated`: how often are fits to unrelated labels trusted?

Features and labels are drawn independently of each other, so that no match means anything. Every
pair of distributions is a cell, for each size and number of features. Asked for: at most 1 % of the
fits trusted overall, at most 3 % in any cell of 100 sets.

Options: ``--sets N`` of each cell, ``--json FILE`` keeps the rows, ``--pairing auto`` leaves the
order to be tested, ``--jobs N`` processes, ``--sizes``, ``--dimensions``, ``--features`` and
``--labels`` select cells.
"""

import argparse
import json
import warnings
import zlib
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from unshuffle import ShuffledRegressor, UnidentifiableWarning

from .processes import prepare
from .run import show

SHAPES = {
    "normal": lambda rng, size: rng.normal(size=size),
    "uniform": lambda rng, size: rng.uniform(size=size),
    "exponential": lambda rng, size: rng.exponential(size=size),
    "lognormal": lambda rng, size: rng.lognormal(size=size),
    "binary": lambda rng, size: (rng.uniform(size=size) < 0.5).astype(float),
    "Likert": lambda rng, size: rng.integers(1, 6, size=size).astype(float),
    "bimodal": lambda rng, size: rng.normal(size=size) + 5.0 * (rng.uniform(size=size) < 0.5),
}
SIZES = (50, 200, 1000)
DIMENSIONS = (1, 2, 3)


def draw(features, labels, n, d, number):
    """Features and labels of one set: independent of each other."""
    rng = np.random.default_rng([zlib.crc32(f"{features} {labels}".encode()), n, d, number])
    return SHAPES[features](rng, (n, d)), SHAPES[labels](rng, n)


def measure(features, labels, n, d, number, pairing):
    """Fit one set; what the verdict says."""
    X, y = draw(features, labels, n, d, number)
    model = ShuffledRegressor(pairing=pairing, n_jobs=1, random_state=number)
    model.fit(X, y)
    return {
        "features": features,
        "labels": labels,
        "n": n,
        "d": d,
        "set": number,
        "pairing": model.pairing_,
        "level": model.verdict_.level,
        "p_value": float(model.null_pvalue_),
        "against": [r.check for r in model.verdict_.reasons if r.level != "trust"],
    }


def measure_cell(cell, n_sets, pairing):
    """Fit every set of one cell; warnings that there is no match are expected."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnidentifiableWarning)
        return [measure(*cell, number, pairing) for number in range(n_sets)]


def collect(cells, n_sets, pairing, n_jobs, target=None):
    """Measure `n_sets` of each cell; rows are added to the file `target` as they come."""
    rows = []
    one_cell = partial(measure_cell, n_sets=n_sets, pairing=pairing)
    with ProcessPoolExecutor(n_jobs, initializer=prepare) as pool:
        for some in pool.map(one_cell, cells):
            rows += some
            if target is not None:
                with Path(target).open("a") as file:
                    file.writelines(json.dumps(row) + "\n" for row in some)
    return rows


def table(rows):
    """Trusted fits by number of features, size, and shape of features and labels; worst cells."""
    lines = []
    for name in ("d", "n", "features", "labels"):
        kinds = defaultdict(list)
        for row in rows:
            kinds[row[name]].append(row)
        lines += [_line(f"{name} = {kind}", some) for kind, some in kinds.items()]
    cells = defaultdict(list)
    for row in rows:
        cells[f"{row['features']} / {row['labels']}, n = {row['n']}, d = {row['d']}"].append(row)
    worst = sorted(cells.items(), key=lambda cell: -_share(cell[1], "trust"))[:10]
    lines += [_line(kind, some) for kind, some in worst]
    return [*lines, _line("all", rows)]


def _share(rows, level):
    return float(np.mean([row["level"] == level for row in rows]))


def _line(kind, rows):
    p_values = np.array([row["p_value"] for row in rows])
    return {
        "cell": kind,
        "sets": len(rows),
        **{level: f"{_share(rows, level):.1%}" for level in ("trust", "caution", "reject")},
        "p < .01": f"{np.mean(p_values < 0.01):.1%}",
        "p < .1": f"{np.mean(p_values < 0.1):.1%}",
    }


def main():
    """Measure the cells asked for, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=4)
    parser.add_argument("--json")
    parser.add_argument("--pairing", default="lost", choices=["lost", "auto"])
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--dimensions", type=int, nargs="+", default=DIMENSIONS)
    parser.add_argument("--features", nargs="+", default=list(SHAPES))
    parser.add_argument("--labels", nargs="+", default=list(SHAPES))
    given = parser.parse_args()
    cells = product(given.features, given.labels, given.sizes, given.dimensions)
    show(table(collect(cells, given.sets, given.pairing, given.jobs, given.json)))


if __name__ == "__main__":
    main()
