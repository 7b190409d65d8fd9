"""`python -m benchmarks.scale_dask`: what fits to data larger than memory cost.

Times are processor seconds, best of several, of one thread. `quick` as an argument takes smaller
tables. ``--json`` keeps them in docs/results, for docs/guides/bigger-data.md.
"""

import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
from docs.tables import wants_json, write_result

from unshuffle import StochasticEMRegressor, Streaming, fit_parquet, warm_up
from unshuffle.data import passes
from unshuffle.data.local import slice_array
from unshuffle.kernels.block_em import PassModel
from unshuffle.kernels.sweep_blocks import Plan

from .run import show

SWEEPS, WARM = 50, 20  # of an iteration, and those before averaging
ITERATIONS = 50  # the most that a fit makes by default
BYTES_BESIDE_X = 8 + 8 + 4 + 4  # a row's label, number, place and rank


def make(n, d, group_size, seed=0, dtype=np.float32):
    """Rows in random order, labels shuffled inside groups."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(dtype)
    y = X @ (np.ones(d) / np.sqrt(d)) + 0.5 * rng.normal(size=n)
    groups = rng.permutation(np.arange(n) // group_size)
    order = np.argsort(groups, kind="stable")
    shuffled = y.copy()
    for first in range(0, n, group_size):
        rows = order[first : first + group_size]
        shuffled[rows] = y[rng.permutation(rows)]
    return X, shuffled, groups


def best(work, repeats=3):
    times = []
    for _ in range(repeats):
        before = time.process_time()
        work()
        times.append(time.process_time() - before)
    return min(times)


def new_model(coef, noise_scale, plan):
    """What a part is sent where the order is lost."""
    return PassModel(
        coef, np.zeros(len(coef)), 0.0, 0.0, noise_scale, -1.0, plan, 0.0, 1.0, 0.0, 1.0, np.ones(2)
    )


def cost_of_rows(n=200_000):
    """Nanoseconds a row of each pass."""
    rows = []
    for d, group_size in ((10, 10), (10, 100), (10, 10_000), (100, 100)):
        X, y, groups = make(n, d, group_size)
        part = slice_array(X, y, groups, np.zeros(n, dtype=bool), n)[0]
        model = new_model(np.ones(d) / np.sqrt(d), 0.5, Plan(0, 1))
        exponents = np.full(d + 4, 20)
        one = best(partial(passes.align, part, model, 0, 0, exponents))
        moving = model._replace(plan=Plan(WARM, SWEEPS - WARM))
        whole = best(partial(passes.align, part, moving, 0, 0, exponents))
        sweep = (whole - one) / (SWEEPS - 1)
        upper = np.full((d + 1) * (d + 2) // 2, 20)
        gram = best(partial(passes.products, part, np.zeros(d), 0.0, upper), 2)
        rows.append({
            "d": d, "rows a group": group_size,
            "products, once": round(gram / n * 1e9),
            "fitted values, sort, sums": round((one - sweep) / n * 1e9),
            "one sweep": round(sweep / n * 1e9, 1),
            f"iteration of {SWEEPS} sweeps": round(whole / n * 1e9),
        })  # fmt: skip
    return rows


LIMITED = """
import json, resource, sys, time
from pathlib import Path
import numpy as np
from unshuffle import Streaming, fit_parquet, warm_up
import pyarrow.parquet
def kilobytes(name):
    return int(Path("/proc/self/status").read_text().split(name + ":")[1].split()[0])
folder, share, how = sys.argv[1], float(sys.argv[2]), sys.argv[3]
facts = json.loads(Path(folder, "facts.json").read_text())
warm_up()
pyarrow.set_cpu_count(1)
small = fit_parquet(folder + "/small.parquet", label="y", group="zone", max_iter=1, tol=0,
                    streaming=Streaming())
limit = kilobytes("VmData") * 1024 + int(share * facts["bytes"])
if share:
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
streaming = Streaming(rows_per_part=50_000) if how == "passes" else None
before = time.process_time()
try:
    model = fit_parquet(folder + "/big", label="y", group="zone", max_iter=3, tol=0,
                        random_state=0, streaming=streaming)
except MemoryError:
    print(json.dumps({"outcome": "out of memory"}))
except Exception as error:
    print(json.dumps({"outcome": type(error).__name__ + ": " + str(error)[:60]}))
else:
    print(json.dumps({"outcome": "finished", "seconds": time.process_time() - before,
                      "bits": model.coef_.tobytes().hex() + model.covariance_.tobytes().hex()}))
"""


def under_a_limit(n=500_000, d=100):
    """The same files with and without a limit on the memory that a process may write to."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if sys.platform != "linux":
        return [{"case": "left out: the limit is Linux's"}]
    rows, bits = [], {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "big").mkdir()
        X, y, groups = make(n, d, 100)
        table = pa.table({f"x{j}": X[:, j] for j in range(d)} | {"y": y, "zone": groups})
        pq.write_table(table, folder / "big" / "0.parquet", row_group_size=10_000)
        pq.write_table(table[:5000], folder / "small.parquet")
        size = X.nbytes + y.nbytes
        (folder / "facts.json").write_text(json.dumps({"bytes": size}))
        del X, y, groups, table
        for how, share in (("passes", 0.0), ("passes", 0.25), ("memory", 0.25)):
            answer = subprocess.run(
                [sys.executable, "-c", LIMITED, str(folder), str(share), how],
                check=True, capture_output=True, text=True,
            )  # fmt: skip
            facts = json.loads(answer.stdout.splitlines()[-1])
            bits[how, share] = facts.get("bits")
            rows.append({
                "fit": f"in {how}", "X and y MB": round(size / 1e6),
                "may write to MB": "no limit" if not share else round(share * size / 1e6),
                "outcome": facts["outcome"],
                "processor s": round(facts["seconds"], 1) if "seconds" in facts else None,
                "same bits": bits[how, share] == bits["passes", 0.0] if bits[how, share] else None,
            })  # fmt: skip
    return rows


@contextmanager
def counted_bytes():
    """Bytes that client and scheduler (both in this process) write to their connections."""
    from distributed.comm.tcp import TCP

    written, write = [0], TCP.write

    async def counting(self, *arguments, **more):
        size = await write(self, *arguments, **more)
        written[0] += size
        return size

    TCP.write = counting
    try:
        yield written
    finally:
        TCP.write = write


def over_the_network(sizes=(50_000, 500_000), d=10, n_parts=8):
    """What goes to each part and comes back in an iteration, on a cluster of two workers."""
    import pandas as pd
    from distributed import LocalCluster

    rows = []
    for n in sizes:
        X, y, groups = make(n, d, 100)
        part = slice_array(X, y, groups, np.zeros(n, dtype=bool), n // n_parts)[0]
        model = new_model(np.ones(d), 1.0, Plan(0, 1))
        request = (model, 0, 0, np.full(d + 4, 20))
        answer = passes.align(part, *request)
        seen = []
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(d)]).assign(y=y, zone=groups)
            frame.to_parquet(folder / "0.parquet", row_group_size=n // n_parts)
            settings = {"label": "y", "group": "zone", "max_iter": 8, "tol": 0, "random_state": 0}
            settings["streaming"] = Streaming(rows_per_part=n // n_parts)
            here = fit_parquet(folder, **settings)
            with (
                LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
                counted_bytes() as written,
            ):
                there = fit_parquet(
                    folder, scheduler=cluster.scheduler_address,
                    callback=lambda progress, seen=seen, now=written: seen.append(now[0]),
                    **settings,
                )  # fmt: skip
        rows.append({
            "rows": n, "parts": n_parts,
            "request to a part, bytes": len(pickle.dumps(request)),
            "answer of a part, bytes": len(pickle.dumps(answer)),
            "client and scheduler send, kB an iteration": round((seen[-1] - seen[0]) / (len(seen) - 1) / 1e3, 1),
            "same bits as on this machine": bool(np.array_equal(here.coef_, there.coef_)),
        })  # fmt: skip
    return rows


def fresh_or_carried(n=10_000, n_sets=3):
    """Fits whose chains start anew (in passes) beside fits whose chain continues (in memory).

    The control is another seed in memory.
    """
    rows = []
    for group_size in (10, 100, 2000):
        fits = {"memory": [], "passes": [], "other seed": []}
        for seed in range(n_sets):
            X, y, groups = make(n, 4, group_size, seed, np.float64)
            for how, models in fits.items():
                model = StochasticEMRegressor(
                    streaming=Streaming() if how == "passes" else "never", init=np.full(4, 0.5),
                    tol=0, max_iter=30, random_state=seed + 1000 * (how == "other seed"),
                )  # fmt: skip
                models.append(model.fit(X, y, groups=groups))
        row = {"rows a group": group_size}
        for how in ("passes", "other seed"):
            distance = [
                np.sqrt(np.mean(((a.coef_ - b.coef_) / b.standard_errors_[1:]) ** 2))
                for a, b in zip(fits[how], fits["memory"], strict=True)
            ]
            row[f"{how}, standard errors from memory"] = round(float(np.mean(distance)), 3)
        for how, models in fits.items():
            row[f"noise, {how}"] = round(float(np.mean([m.noise_scale_ for m in models])), 4)
        rows.append(row)
    return rows


def plan(costs, network, n=10_000_000_000, d=10, n_workers=100, cores=16):
    """What the numbers above say about a table of ten thousand million rows."""
    cost = next(row for row in costs if row["d"] == d and row["rows a group"] == 100)
    per_row = cost[f"iteration of {SWEEPS} sweeps"]
    seconds = n * per_row * 1e-9 / (n_workers * cores)
    parts = n // 1_000_000
    per_part = network[-1]["client and scheduler send, kB an iteration"] / network[-1]["parts"]
    return [{
        "rows": n, "features": d, "workers": n_workers, "cores a worker": cores,
        "GB a worker": round(n * (4 * d + BYTES_BESIDE_X) / n_workers / 1e9, 1),
        "parts": parts,
        "s an iteration": round(seconds, 1),
        f"h for {ITERATIONS} iterations": round(ITERATIONS * seconds / 3600, 2),
        "MB that client and scheduler send an iteration": round(per_part * parts / 1e3, 1),
    }]  # fmt: skip


TITLES = {
    "costs": "Nanoseconds a row (one thread, float32)",
    "limit": "With a quarter of the memory that the data take",
    "network": "On a cluster of two workers",
    "chains": "Chains that start anew beside a chain that continues",
    "plan": "A plan for ten thousand million rows, from the numbers above",
}


def main():
    keep = wants_json()
    quick = "quick" in sys.argv[1:]
    for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    warm_up()
    tables = {
        "costs": cost_of_rows(50_000 if quick else 200_000),
        "limit": under_a_limit(300_000, 100) if quick else under_a_limit(),
        "network": over_the_network((20_000, 200_000)) if quick else over_the_network(),
        "chains": fresh_or_carried(n_sets=2 if quick else 3),
    }
    tables["plan"] = plan(tables["costs"], tables["network"])
    for name, rows in tables.items():
        print(f"\n{TITLES[name]}\n")
        show(rows)
    if keep:
        write_result("scale-dask", "python -m benchmarks.scale_dask --json", tables)


if __name__ == "__main__":
    main()
