"""What a user waits for at first: import, first fit with and without cached kernels."""

import os
import subprocess
import sys
import tempfile
import time

FIT = """
import numpy as np
from unshuffle import StochasticEMRegressor, HardEMRegressor
rng = np.random.default_rng(0)
X = rng.normal(size=(500, 5)); y = X @ np.ones(5) + rng.normal(size=500)
StochasticEMRegressor(tol=0, random_state=0).fit(X, y, groups=np.arange(500) // 10)
"""
LOADED = """
import sys, unshuffle
print(sorted({"numba", "matplotlib", "sklearn", "numpy"} & set(sys.modules)))
"""


def run():
    """Whole processes, best of five; the cold one compiles into an empty cache."""
    bare = _best("pass")
    imported = _best("import unshuffle")
    with tempfile.TemporaryDirectory() as cache:
        environment = {"NUMBA_CACHE_DIR": cache}
        cold = _seconds(FIT, environment)
        warm = min(_seconds(FIT, environment) for _ in range(5))
    return [
        {
            "import adds s": round(imported - bare, 3),
            "heavy modules loaded": _output(LOADED).strip(),
            "first fit, cold cache s": round(cold, 2),
            "first fit, warm cache s": round(warm, 2),
        }
    ]


def _best(code):
    return min(_seconds(code) for _ in range(5))


def _seconds(code, environment=None):
    begin = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={**os.environ, **(environment or {})}
    )
    return time.perf_counter() - begin


def _output(code):
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout
