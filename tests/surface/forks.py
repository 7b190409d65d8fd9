"""Commands in forks of one process that has loaded the libraries: a start takes milliseconds.

A fork has signals, files and memory of its own, so that it can be killed like any process.
"""

import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple


class Order(NamedTuple):
    """What to start: arguments of Python, its folder and that for temporary files, its errors."""

    command: tuple[str, ...]
    folder: str
    temporary: str
    errors: str


SERVER = Path(__file__).with_name("fork_server.py")


class ForkServer:
    """Starts one command at a time."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, str(SERVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def __enter__(self) -> "ForkServer":
        return self

    def __exit__(self, *raised: object) -> None:
        self._server.stdin.close()
        self._server.stdout.close()
        self._server.wait(timeout=60)

    def run(self, order: Order, number: int = 0, delay: float = 120.0) -> int:
        """Exit code of a command; after `delay` seconds it gets the signal `number`."""
        self._server.stdin.write(json.dumps(order._asdict()) + "\n")
        child = self._answer(60.0)
        assert child is not None, "nothing was started"
        code = self._answer(delay)
        if code is None:
            assert number, f"{order.command} takes more than {delay} seconds"
            os.kill(child, number)
            code = self._answer(120.0)
            assert code is not None, f"{order.command} does not end on signal {number}"
        return code

    def _answer(self, seconds: float) -> int | None:
        """The next number that the server prints; None if it takes longer."""
        end = time.monotonic() + seconds
        ready, _, _ = select.select([self._server.stdout], [], [], max(0.0, end - time.monotonic()))
        return int(self._server.stdout.readline()) if ready else None
