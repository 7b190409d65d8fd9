"""`make bench-surface`: what a user of the command line waits for."""

import csv
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from unshuffle.datasets import load_boston
from unshuffle.datasets.simulated import cut_by_rank, shuffle_inside
from unshuffle.io.tables import open_table

from .run import show


def commands(folder: Path):
    """Whole processes, best of five; processor time beside the clock, for busy machines."""
    data = boston(folder)
    fit = ["fit", str(data), "--label", "MEDV", "--group", "zone", "--out", str(folder / "out")]
    program = ["-m", "unshuffle"]
    calls = (
        ("unshuffle --help", [*program, "--help"], 0.3),
        ("unshuffle fit boston.csv --out", [*program, *fit], 4.0),
        ("unshuffle predict out boston.csv", [*program, "predict", folder / "out", data], None),
        ("import sklearn, matplotlib, beside", ["-c", "import sklearn.base, matplotlib"], None),
    )
    rows = []
    for name, arguments, target in calls:
        seconds = [measure(arguments) for _ in range(6)][1:]  # the first one warms
        rows.append(
            {
                "command": name,
                "clock s": round(min(clock for clock, _ in seconds), 2),
                "processor s": round(min(processor for _, processor in seconds), 2),
                "target s": target or "",
            }
        )
    files = sorted(path.name for path in (folder / "out").iterdir())
    rows[1]["command"] += f" ({', '.join(files)})"
    return rows


def measure(arguments):
    """Clock and processor seconds of one process of Python."""
    variables = {**os.environ}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed has its bytecode
    before, begin = os.times(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], check=False, stdout=subprocess.DEVNULL, env=variables
    )
    assert done.returncode in {0, 1}  # 1 is a verdict
    after = os.times()
    processor = after.children_user + after.children_system
    processor -= before.children_user + before.children_system
    return time.perf_counter() - begin, processor


def boston(folder: Path) -> Path:
    """The shipped table, prices shuffled inside 60 zones."""
    table = load_boston()
    zones = cut_by_rank(table.column("DIS"), 60)
    values = table.data.copy()
    price = table.columns.index("MEDV")
    values[:, price] = values[shuffle_inside(np.random.RandomState(0), zones), price]
    path = folder / "boston.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*table.columns, "zone"])
        writer.writerows([*row, f"z{zone}"] for row, zone in zip(values, zones, strict=True))
    return path


def reading(folder: Path, n_rows=1_000_000):
    """A CSV of a million rows, six numbers and a name each, beside pandas; processor time."""
    import pandas as pd

    rng = np.random.RandomState(0)
    frame = pd.DataFrame(rng.normal(size=(n_rows, 6)), columns=list("abcdey"))
    frame["zone"] = [f"z{k}" for k in rng.randint(0, 1000, n_rows)]
    path = folder / "big.csv"
    frame.to_csv(path, index=False)
    source = open_table(path)

    def strictly():
        source.read(source.names, {"zone"})

    ours, theirs = (
        min(processor_time(read) for _ in range(3))
        for read in (strictly, lambda: pd.read_csv(path))
    )
    return [
        {
            "file": f"{n_rows:,} rows, 7 columns, {path.stat().st_size / 1e6:.0f} MB",
            "strict s": round(ours, 2),
            "pandas s": round(theirs, 2),
            "ratio": round(ours / theirs, 1),
        }
    ]


def processor_time(function):
    begin = time.process_time()
    function()
    return time.process_time() - begin


def main():
    """Print both sections."""
    with tempfile.TemporaryDirectory() as folder:
        for title, section in (("Commands", commands), ("Strict reading", reading)):
            print(f"\n{title}", flush=True)
            show(section(Path(folder)))


if __name__ == "__main__":
    main()
