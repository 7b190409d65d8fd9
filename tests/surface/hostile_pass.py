"""Run every hostile call in one process; print what happened and the peak of memory as JSON."""

import json
import sys
import time
from pathlib import Path

from typer.testing import CliRunner

from unshuffle.cli.app import app


def listing(folder: Path) -> list[str]:
    return sorted(f"{path} {path.stat().st_size}" for path in folder.rglob("*"))


def peak() -> int:
    # Not ru_maxrss: a process inherits that from the one that started it.
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


def main() -> None:
    folder = Path(sys.argv[1])
    calls = json.loads((folder.parent / "calls.json").read_text())
    results = {}
    for name, arguments in calls.items():
        before, started = listing(folder), time.process_time()
        done = CliRunner().invoke(app, arguments)
        error = None if isinstance(done.exception, SystemExit) else done.exception
        results[name] = {
            "code": done.exit_code,
            "out": done.stdout,
            "err": done.stderr,
            "raised": None if error is None else repr(error),
            "left": sorted(set(listing(folder)) ^ set(before)),
            "peak": peak(),
            "seconds": time.process_time() - started,
        }
    sys.stdout.write(json.dumps(results))


main()
