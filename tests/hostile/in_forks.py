"""Run every call in a fork of one process; print what happened, time and memory as JSON.

Forks share the libraries that are loaded, so that a hundred calls take seconds, but each has its
own memory, whose peak is its own.
"""

import gc
import importlib
import json
import os
import resource
import signal
import sys
import time
import warnings
from pathlib import Path

from typer.testing import CliRunner

from unshuffle.cli.app import app

# What commands load, so that forks need not; their memory is counted in each.
LIBRARIES = (
    "unshuffle.estimators.shuffled", "unshuffle.estimators.parquet", "unshuffle.io.parquet",
    "unshuffle.io.tables.fcs", "unshuffle.fits.model_files", "pyarrow.parquet", "pyarrow.csv",
    "unshuffle.io.tables.write", "unshuffle.estimators.audit", "unshuffle.estimators.blocks",
    "unshuffle.cli.output", "unshuffle.cli.fitting", "unshuffle.cli.passes", "flowio",
    "unshuffle.datasets.simulated", "rich.console", "rich.table", "unshuffle.io.workbook",
    "zstandard", "unshuffle.cli.audit_files",
)  # fmt: skip
MOST_SECONDS = 60
MOST_BYTES = 8 << 30  # of addresses: ends what would fill the machine


def listing(folder: Path) -> list[str]:
    return sorted(f"{path} {path.lstat().st_size}" for path in folder.rglob("*"))


def megabytes(field: str) -> int:
    # Not ru_maxrss: a process inherits that from the one that started it.
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{field}:")[1].split()[0]) // 1024


def call(arguments: list[str], folder: Path, loaded: int) -> dict:
    # Pages of libraries that the fork has not touched yet would be in the memory of a real process.
    untouched = loaded - megabytes("VmRSS")
    before, started = listing(folder), time.monotonic()
    done = CliRunner().invoke(app, arguments)
    error = None if isinstance(done.exception, SystemExit) else done.exception
    return {
        "code": done.exit_code,
        "out": done.stdout,
        "err": done.stderr,
        "raised": None if error is None else repr(error),
        "left": sorted(set(listing(folder)) ^ set(before)),
        "peak": megabytes("VmHWM") + untouched,
        "seconds": time.monotonic() - started,
    }


def in_fork(arguments: list[str], folder: Path) -> dict:
    loaded = megabytes("VmRSS")
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # libraries have threads, none of which does anything
        child = os.fork()
    if not child:
        os.close(reading)
        signal.alarm(MOST_SECONDS)
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        with os.fdopen(writing, "w") as answer:
            json.dump(call(arguments, folder, loaded), answer)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status or not text:
        return {
            "code": None, "out": "", "err": "", "raised": f"ended by {status}", "left": [],
            "peak": 0, "seconds": MOST_SECONDS,
        }  # fmt: skip
    return json.loads(text)


def main() -> None:
    for library in LIBRARIES:
        importlib.import_module(library)
    CliRunner().invoke(app, ["fit", "nowhere.csv"])  # loads what reports an error
    gc.freeze()  # else the first collection of a fork copies every page
    folder = Path(sys.argv[1])
    calls = json.loads((folder.parent / "calls.json").read_text())
    results = {name: in_fork(arguments, folder) for name, arguments in calls.items()}
    sys.stdout.write(json.dumps(results))


main()
