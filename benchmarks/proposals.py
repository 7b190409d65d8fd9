"""Nanoseconds per proposal beside the same loop in C."""

import ctypes
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from unshuffle.kernels.swap import advance_group

SIZES = (1_000, 100_000, 10_000_000)
NOISE = {"noise = spread": 1.0, "noise = 5 % of spread": 0.05}
ROUNDS = 5


def run():
    """One row per size and noise; the rounds alternate, so that a busy machine hits all alike."""
    contenders = {"numba": _numba, **_c_loops()}
    rows = []
    for n in SIZES:
        steps = 3_000_000 if n > 10**6 else 10_000_000
        for label, scale in NOISE.items():
            best = dict.fromkeys(contenders, np.inf)
            for _ in range(ROUNDS):
                for name, chain in contenders.items():
                    slots, perm = _sorted_state(n, scale)
                    begin = time.perf_counter()
                    chain(slots, perm, n, scale**-2, steps)
                    best[name] = min(best[name], (time.perf_counter() - begin) / steps * 1e9)
            row = {"n": n, "case": label, **{f"{k} ns": round(v, 1) for k, v in best.items()}}
            if "C" in best:
                row["numba / C"] = round(best["numba"] / best["C"], 2)
                row["numba / C xoroshiro"] = round(best["numba"] / best["C xoroshiro"], 2)
            rows.append(row)
    return rows


def _sorted_state(n, scale):
    rng = np.random.default_rng(0)
    mu = rng.normal(size=n)
    y = np.sort(mu + scale * rng.normal(size=n))
    slots = np.zeros((n, 4))
    slots[:, 0] = mu
    slots[np.argsort(mu), 1] = y
    return slots, np.arange(n)


def _numba(slots, perm, n, precision, steps):
    advance_group(slots, perm, 0, n, precision, np.uint64(1), 0, steps, 0, 1)


def _c_loops():
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        print("no C compiler found: the yardstick is left out")
        return {}
    source = Path(__file__).with_name("yardstick.c")
    folder = tempfile.mkdtemp()
    library = Path(folder) / "yardstick.so"
    command = [compiler, "-O3", "-march=native", "-shared", "-fPIC", source, "-o", library, "-lm"]
    subprocess.run(command, check=True)
    code = ctypes.CDLL(str(library))

    def loop(function):
        function.restype = ctypes.c_int64

        def chain(slots, perm, n, precision, steps):
            function(
                ctypes.c_void_p(slots.ctypes.data), ctypes.c_void_p(perm.ctypes.data),
                ctypes.c_int64(n), ctypes.c_double(precision), ctypes.c_uint64(1),
                ctypes.c_int64(steps),
            )  # fmt: skip

        return chain

    return {"C": loop(code.chain_counter), "C xoroshiro": loop(code.chain_xoroshiro)}
