"""Commands that are killed at random moments, and what must hold afterwards."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from surface.forks import ForkServer, Order
from unshuffle.fits.checkpoint_format import read_fields
from unshuffle.io.parts import NAME

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
LOADING = 0.3  # of the time of a process goes into loading libraries; kills come later

# A fit of data on disk whose groups are scattered: they are put together in a temporary file.
STREAMED = """
import sys
import numpy as np
from unshuffle import StochasticEMRegressor, Streaming, save_model
X = np.load("X.npy", mmap_mode="r")
y, groups = np.load("y.npy"), np.load("groups.npy")
streaming = Streaming(rows_per_part=500)
save_model(StochasticEMRegressor(streaming=streaming, random_state=0).fit(X, y, groups), "out")
"""
PASSES = ("fit", "t.parquet", "--label", "y", "--group", "zone", "--pairing", "lost")


@dataclass(frozen=True)
class Job:
    """A command, what it writes, and the file from which it can continue."""

    name: str
    command: tuple[str, ...]
    out: str
    checkpoint: str | None = None


def unshuffle(*arguments: str) -> tuple[str, ...]:
    return ("-m", "unshuffle", *arguments)


CSV = ("t.csv", "--label", "y", "--group", "zone")
JOBS = (
    Job("fit", unshuffle("fit", *CSV, "--out", "out"), "out"),
    Job("repair", unshuffle("repair", *CSV, "--out", "out.csv", "--force"), "out.csv"),
    Job("streamed", ("-c", STREAMED), "out"),
    Job(
        "checkpointed",
        unshuffle(*PASSES, "--checkpoint", "c.npz", "--resume", "--out", "out"),
        "out",
        "c.npz",
    ),
)


@dataclass
class Record:
    """What the kills found."""

    kills: Counter = field(default_factory=Counter)
    ended_before: int = 0  # the process had ended when the signal came: no kill
    old: int = 0
    new: int = 0
    half: list[str] = field(default_factory=list)
    parts_before: int = 0  # beside outputs, before the next start
    left: list[str] = field(default_factory=list)
    other_bits: list[str] = field(default_factory=list)
    resumed: int = 0
    exit_codes: Counter = field(default_factory=Counter)
    states: Counter = field(default_factory=Counter)  # of each job


def make_data(folder: Path, n: int = 8000) -> None:
    """One table, with labels shuffled inside groups that are scattered over it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    zone = rng.integers(n // 20, size=n)
    X = rng.normal(size=(n, 3))
    y = X @ [1.0, 2.0, -1.0] + rng.normal(size=n)
    shuffled = np.empty(n)
    shuffled[np.argsort(zone, kind="stable")] = y[np.lexsort((rng.random(n), zone))]
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", shuffled)
    np.save(folder / "groups.npy", zone)
    columns = {"zone": zone, **{f"x{j}": X[:, j] for j in range(3)}, "y": shuffled}
    pq.write_table(pa.table(columns), folder / "t.parquet")
    rows = zip(*(values[:400] for values in columns.values()), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    (folder / "t.csv").write_text("\n".join(lines) + "\n")


class Kills:
    """One job in a folder of its own, with a folder for temporary files of its own."""

    def __init__(self, job: Job, folder: Path, record: Record, forks: ForkServer | None) -> None:
        self.job, self.folder, self.record, self.forks = job, folder, record, forks
        self.place, self.temporary = folder / "place", folder / "tmp"
        self.place.mkdir(parents=True), self.temporary.mkdir()
        make_data(self.place)
        self.complete()
        self.new = content(self.place / job.out)
        self.make_old()

    def make_old(self) -> None:
        """An earlier output of the same kind, with other content."""
        self.saved = self.folder / "old"
        path = self.place / self.job.out
        if path.is_dir():
            facts = path / "model.json"
            facts.write_text(
                facts.read_text().replace('"settings": {', '"settings": {"old": 1, ', 1)
            )
        else:
            path.write_bytes(path.read_bytes()[::-1])
        path.rename(self.saved)
        self.old = content(self.saved)
        assert self.old != self.new

    def restore(self) -> None:
        """Put the earlier output back, and start without a checkpoint."""
        path = self.place / self.job.out
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        (shutil.copytree if self.saved.is_dir() else shutil.copy)(self.saved, path)
        if self.job.checkpoint:
            (self.place / self.job.checkpoint).unlink(missing_ok=True)

    def run(self, number: int = 0, delay: float = 120.0) -> tuple[int, str]:
        """Exit code and errors of the job; after `delay` seconds it gets the signal `number`."""
        if self.forks is not None:
            errors = self.folder / "errors"
            order = Order(self.job.command, *map(str, (self.place, self.temporary, errors)))
            return self.forks.run(order, number, delay), errors.read_text()
        process = subprocess.Popen(
            [sys.executable, *self.job.command],
            cwd=self.place,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": str(self.temporary)},
            # A shell in the background would have its processes ignore Ctrl-C.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
        )
        try:
            process.wait(delay)
        except subprocess.TimeoutExpired:
            process.send_signal(number)
        _, errors = process.communicate(timeout=120)
        return process.returncode, errors

    def kill(self, number: int, share: float) -> bool:
        """Start, kill after a share of the time, and look; False if it had ended before."""
        first = LOADING if self.forks is None else 0.0
        code, _ = self.run(number, self.seconds * (first + (1.05 - first) * share))
        killed = code != 0
        self.record.ended_before += not killed
        self.record.kills[signal.Signals(number).name] += killed
        self.record.exit_codes[code] += 1
        self.look(signal.Signals(number).name)
        return killed

    def look(self, title: str) -> None:
        found, record = content(self.place / self.job.out), self.record
        if found == self.old:
            record.old += 1
        elif found == self.new:
            record.new += 1
        else:
            record.half.append(f"{self.job.name} after {title}")
        record.states[self.job.name, "old" if found == self.old else "new"] += 1
        if self.job.checkpoint and (self.place / self.job.checkpoint).exists():
            read_fields(self.place / self.job.checkpoint)  # raises where it is not whole
            record.resumed += 1
        record.parts_before += len(parts(self.place))
        # Copies of data do not even wait for the next start.
        record.left += [str(path) for path in self.temporary.iterdir()]

    def complete(self) -> None:
        """The next start, which nobody kills; how long it takes tells when to kill others."""
        started = time.monotonic()
        code, errors = self.run()
        self.seconds = time.monotonic() - started
        assert code == 0, errors

    def finish(self) -> None:
        """After the next start: nothing is left, and the result is that of a run never killed."""
        self.complete()
        if content(self.place / self.job.out) != self.new:
            self.record.other_bits.append(self.job.name)
        self.record.left += [str(path) for path in parts(self.place)]
        self.record.left += [str(path) for path in self.temporary.iterdir()]


def parts(folder: Path) -> list[Path]:
    """Hidden files and folders: none of them is the user's."""
    found = [path for path in folder.iterdir() if path.name.startswith(".")]
    assert all(NAME.fullmatch(path.name) for path in found), found
    return found


def content(path: Path) -> dict[str, bytes]:
    """Every file of an output with its bytes; a file alone has no name."""
    if path.is_file():
        return {"": path.read_bytes()}
    return {file.name: file.read_bytes() for file in path.iterdir()}


def run_kills(
    folder: Path, per_job: int, per_round: int, seed: int, *, in_forks: bool = False
) -> Record:
    """Kill every job `per_job` times; after `per_round` kills it may run to its end.

    In forks of a process that has loaded the libraries, all kills come while the job works.
    """
    rng, record = np.random.default_rng(seed), Record()
    with ForkServer() if in_forks else nullcontext() as forks:
        for job in JOBS:
            kill_job(Kills(job, folder / job.name, record, forks), rng, per_job, per_round)
    return record


def kill_job(kills: Kills, rng: np.random.Generator, per_job: int, per_round: int) -> None:
    done = 0
    while done < per_job:
        kills.restore()
        for _ in range(min(per_round, per_job - done)):
            number = SIGNALS[rng.integers(len(SIGNALS))]
            done += kills.kill(number, rng.uniform())
        kills.finish()
