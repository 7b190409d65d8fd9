"""`make bench-compare BASE=<commit>`: kernels and whole fits of two versions, as ratios.

Each version runs in a process of its own, with its own compiled kernels. They take turns, so that a
busy machine slows both alike, and times are processor seconds of one thread. HEAD is the working
tree as it stands, unless `--head` names a commit.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MEMORY = "memory above X and y: mostly right, n=1e6, d=10"
WIDTHS = {"case": 48, "base": 12, "head": 12, "head / base": 12, "spread over pairs": 18}


@contextmanager
def checked_out(commit, folder):
    """The source tree of a commit, for the length of the run."""
    git = ["git", "-C", str(ROOT), "worktree"]
    subprocess.run([*git, "add", "--quiet", "--detach", str(folder), commit], check=True)
    try:
        yield folder
    finally:
        subprocess.run([*git, "remove", "--force", str(folder)], check=True)


class Version:
    """A source tree, and a process that times cases with it."""

    def __init__(self, tree, cache):
        self.environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(tree / "src"), str(ROOT)]),
            "NUMBA_CACHE_DIR": str(cache),
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
        }
        self.process = self._start()
        self.names = self._answer()

    def _start(self, *arguments):
        return subprocess.Popen(
            [sys.executable, "-m", "benchmarks.compare_cases", *arguments],
            cwd=ROOT, env=self.environment, text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def _answer(self):
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit("a version failed; its error is printed above")
        return json.loads(answer)

    def seconds(self, name):
        """Time of a case."""
        self.process.stdin.write(name + "\n")
        return self._answer()

    def memory(self):
        """Peak memory of a large fit, in a process that does nothing else."""
        process = self._start("memory")
        answer = process.communicate()[0]
        if process.returncode:
            raise SystemExit("a version failed; its error is printed above")
        return json.loads(answer)

    def close(self):
        """End the process."""
        self.process.communicate()


def ratios(base, head, name, rounds):
    """Times of a case, in turns after one call each that is not counted."""
    base.seconds(name), head.seconds(name)
    pairs = [(base.seconds(name), head.seconds(name)) for _ in range(rounds)]
    old, new = (statistics.median(times) for times in zip(*pairs, strict=True))
    each = [after / before for before, after in pairs]
    return {
        "case": name,
        "base": f"{old:.4g} s",
        "head": f"{new:.4g} s",
        "head / base": f"{new / old:.3f}",
        "spread over pairs": f"{min(each):.3f} .. {max(each):.3f}",
        "pairs": pairs,
    }


def memories(base, head):
    """Peak memory above the data, as a multiple of them."""
    if not Path("/proc/self/status").exists():
        return {"case": MEMORY, "base": "unknown", "head": "unknown"}
    old, new = base.memory(), head.memory()
    return {
        "case": MEMORY,
        "base": f"{old:.2f} x data",
        "head": f"{new:.2f} x data",
        "head / base": f"{new / old:.3f}",
        "pairs": [(old, new)],
    }


def show(row):
    """Print one line of the table."""
    print("".join(row.get(name, "").ljust(w) for name, w in WIDTHS.items()), flush=True)


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=__doc__)
    parser.add_argument("base", help="commit to compare with")
    parser.add_argument("--head", help="commit to compare (the working tree if left out)")
    parser.add_argument("--rounds", type=int, default=5, help="pairs of measurements (5)")
    parser.add_argument("--only", default="", help="cases whose name contains this text")
    parser.add_argument("--json", help="file to write the results to")
    given = parser.parse_args()
    rows = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="compare-")))
        trees = [stack.enter_context(checked_out(given.base, folder / "base")), ROOT]
        if given.head:
            trees[1] = stack.enter_context(checked_out(given.head, folder / "head"))
        base, head = (Version(tree, folder / f"numba-{k}") for k, tree in enumerate(trees))
        stack.callback(head.close)
        stack.callback(base.close)
        show({title: title for title in WIDTHS})
        for name in [*base.names, MEMORY]:
            if given.only not in name:
                continue
            row = memories(base, head) if name == MEMORY else ratios(base, head, name, given.rounds)
            rows.append(row)
            show(row)
            if given.json:
                Path(given.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
