"""Peak memory of a large fit, in multiples of the data. Each case runs in its own process."""

import json
import subprocess
import sys
from pathlib import Path

CASE = """
import json, sys
from pathlib import Path
import numpy as np
from unshuffle import StochasticEMRegressor, warm_up
warm_up()
def peak():
    # Not ru_maxrss: a process inherits that from the one that started it.
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024
small = np.arange(40.0)
StochasticEMRegressor(tol=0, max_iter=2).fit(small.reshape(20, 2) ** 2, small[:20])
before = peak()
n, d = 1_000_000, 10
rng = np.random.default_rng(0)
X = rng.normal(size=(n, d))
y = rng.normal(size=n)
y += X @ np.ones(d)
groups = rng.integers(n // 100, size=n) if sys.argv[1] == "groups" else None
StochasticEMRegressor(tol=0, max_iter=2, random_state=0).fit(X, y, groups=groups)
print(json.dumps({"data": X.nbytes + y.nbytes, "used": peak() - before}))
"""


def run():
    """Peak resident memory above that of a process that has fitted a small table."""
    if not Path("/proc/self/status").exists():
        return [{"case": "left out: this system does not tell the peak memory of a process"}]
    rows = []
    for case in ("one group", "groups"):
        answer = subprocess.run(
            [sys.executable, "-c", CASE, case], check=True, capture_output=True, text=True
        )
        facts = json.loads(answer.stdout)
        rows.append(
            {
                "case": f"n=1e6, d=10, {case}",
                "X and y MB": round(facts["data"] / 1e6),
                "peak MB": round(facts["used"] / 1e6),
                "times the data": round(facts["used"] / facts["data"], 2),
            }
        )
    return rows
