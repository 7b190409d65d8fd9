"""What a user waits for at first: import, first fit with and without cached kernels."""

import os
import subprocess
import sys
import tempfile
import time

FIT = """
import numpy as np
from unshuffle import ShuffledRegressor
rng = np.random.default_rng(0)
X = rng.normal(size=(500, 5)); y = X @ np.arange(1.0, 6.0) + 0.5 * rng.normal(size=500)
ShuffledRegressor(random_state=0).fit(X, {labels})
"""
SCIKIT_LEARN = "import sklearn.base"
LABELS = {
    "order lost": "rng.permutation(y)",
    "order lost in groups": "y.reshape(50, 10)[:, ::-1].ravel(), groups=np.arange(500) // 10",
    "order mostly right": "np.where(np.arange(500) % 10, y, np.roll(y, 10))",
}
LOADED = """
import sys, unshuffle
print(sorted({"numba", "matplotlib", "sklearn", "numpy"} & set(sys.modules)))
"""


def run():
    """Whole processes; the cold one compiles into an empty cache, of the others the best of five."""
    bare = _best("pass")
    imported = _best("import unshuffle")
    common = {
        "import adds s": round(imported - bare, 3),
        "scikit-learn alone s": round(_best(SCIKIT_LEARN), 2),
        "heavy modules loaded": _output(LOADED).strip(),
    }
    return [{**common, "labels": name, **_fits(labels)} for name, labels in LABELS.items()]


def _fits(labels):
    code = FIT.format(labels=labels)
    with tempfile.TemporaryDirectory() as cache:
        environment = {"NUMBA_CACHE_DIR": cache}
        before = os.times().children_user
        cold = _seconds(code, environment)
        processor = os.times().children_user - before
        warm = min(_seconds(code, environment) for _ in range(5))
    return {
        "first fit, cold cache s": round(cold, 2),
        "of which processor s": round(processor, 2),
        "first fit, warm cache s": round(warm, 2),
    }


def _best(code):
    return min(_seconds(code) for _ in range(5))


def _seconds(code, environment=None):
    variables = {**os.environ, **(environment or {})}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed has its bytecode
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=variables)
    return time.perf_counter() - begin


def _output(code):
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout
