"""`python -m benchmarks.pairs`: time and memory of `from_pairs` on a million candidate pairs.

Two files of 100,000 records. "blocked": ten candidates a record inside blocks of 20, the scores of a
linkage model; "random": ten candidates anywhere, so that all records hang together, with scores
that say little. Each case runs in a process of its own.
"""

import resource
import subprocess
import sys
import time

import numpy as np

from .run import show

N, EACH, BLOCK = 100_000, 10, 20
CASES = ("blocked", "random")


def candidates(kind, rng):
    """Ids and probabilities of the pairs; the own record is among nine of ten."""
    left = np.repeat(np.arange(N), EACH)
    if kind == "blocked":
        right = left // BLOCK * BLOCK + rng.integers(0, BLOCK, size=len(left))
    else:
        right = rng.integers(0, N, size=len(left))
    own = rng.random(N) < 0.9
    right[::EACH][own] = np.arange(N)[own]
    _, first = np.unique(left * N + right, return_index=True)
    left, right = left[first], right[first]
    spread = 3.0 if kind == "blocked" else 1.0
    weight = np.where(left == right, 4.0, -4.0 if kind == "blocked" else 0.0)
    return left, right, 1.0 / (1.0 + np.exp(-weight - spread * rng.normal(size=len(left))))


def measure(kind):
    """Time of one case in seconds, and what came out."""
    import pandas as pd

    from unshuffle.linkage import from_pairs

    rng = np.random.default_rng(0)
    left, right, probability = candidates(kind, rng)
    pairs = pd.DataFrame(
        {"unique_id_l": left, "unique_id_r": right, "match_probability": probability}
    )
    files = [
        pd.DataFrame({"unique_id": np.arange(N), name: rng.normal(size=N)}) for name in ("x", "y")
    ]
    start = time.perf_counter()
    linked = from_pairs(pairs, *files)
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    right_links = np.mean(linked.left_rows == linked.right_rows)
    print(kind, len(pairs), f"{seconds:.1f}", f"{memory:.2f}", len(linked), f"{right_links:.3f}",
          linked.counts["greedy links"], linked.counts["largest component"])  # fmt: skip


def main():
    if len(sys.argv) > 1:
        measure(sys.argv[1])
        return
    heads = ("case", "pairs", "seconds", "GB", "links", "right", "greedy", "largest component")
    lines = []
    for case in CASES:
        command = [sys.executable, "-m", "benchmarks.pairs", case]
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        lines.append(dict(zip(heads, found, strict=True)))
    show(lines)


if __name__ == "__main__":
    main()
