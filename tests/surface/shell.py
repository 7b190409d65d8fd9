"""Call commands as a shell does, or in this process, and write tables for them."""

import csv
import os
import subprocess
import sys

from typer.testing import CliRunner

from unshuffle.cli.app import app


def shell(*arguments, **more):
    """A process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "unshuffle", *map(str, arguments)],
        capture_output=True,
        check=False,
        env={**os.environ, "COLUMNS": "100", **more.pop("env", {})},
        **{"text": True, **more},
    )


def call(*arguments, **more):
    """In this process."""
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False, **more)


def write(path, **columns):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def columns_of(path):
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    return {name: [row[j] for row in rows[1:]] for j, name in enumerate(rows[0])}
