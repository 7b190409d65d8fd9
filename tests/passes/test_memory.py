"""A fit in passes with a quarter of the memory that its data take."""

import json
import subprocess
import sys

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

CODE = """
import json, resource, sys
from pathlib import Path
import pyarrow
from unshuffle import Streaming, fit_parquet, warm_up
folder, limited, streaming = sys.argv[1], sys.argv[2] == "limited", sys.argv[3] == "passes"
pyarrow.set_cpu_count(1)
warm_up()
settings = {"label": "y", "group": "zone", "max_iter": 2, "tol": 0, "random_state": 0}
fit_parquet(folder + "/small.parquet", streaming=Streaming(), **settings)
if limited:
    used = int(Path("/proc/self/status").read_text().split("VmData:")[1].split()[0]) * 1024
    limit = used + int(sys.argv[4]) // 4
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
try:
    model = fit_parquet(
        folder + "/big.parquet",
        streaming=Streaming(rows_per_part=40_000) if streaming else None,
        **settings,
    )
except MemoryError:
    print(json.dumps("out of memory"))
else:
    print(json.dumps(model.coef_.tolist() + model.standard_errors_.tolist()))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
@pytest.mark.timeout(900)
def test_a_quarter_of_the_memory_suffices(tmp_path):
    import pyarrow.parquet as pq

    n, d = 500_000, 100
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)).astype(np.float32)
    columns = {f"x{j}": X[:, j] for j in range(d)}
    table = pa.table(
        columns | {"y": X[:, 0] + rng.normal(size=n), "zone": rng.integers(9999, size=n)}
    )
    pq.write_table(table, tmp_path / "big.parquet", row_group_size=10_000)
    pq.write_table(table[:5000], tmp_path / "small.parquet")

    def fit(limit, how):
        command = [sys.executable, "-c", CODE, str(tmp_path), limit, how, str(X.nbytes)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return json.loads(done.stdout.splitlines()[-1])

    free, limited = fit("free", "passes"), fit("limited", "passes")
    assert free != "out of memory"
    assert limited == free
    assert fit("limited", "memory") == "out of memory"
