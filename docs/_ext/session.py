"""Run the blocks of one page: Python shares its names, shell commands share a folder."""

import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

LANGUAGES = ("python", "sh")


class Session:
    """What the blocks of one page share."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "__page__"}
        self.folder = tempfile.TemporaryDirectory()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *error: object) -> None:
        self.folder.cleanup()

    def take(self, file: Path) -> None:
        """Copy a file into the folder in which the blocks run."""
        shutil.copy(file, self.folder.name)

    def run(self, language: str, code: str, exit_code: int = 0) -> str:
        """Run one block; what it printed, without spaces at the ends of lines."""
        if language not in LANGUAGES:
            raise ValueError(f"a block can be {' or '.join(LANGUAGES)}, not {language!r}")
        printed = self.python(code) if language == "python" else self.sh(code, exit_code)
        return "\n".join(line.rstrip() for line in printed.rstrip().splitlines())

    def python(self, code: str) -> str:
        """Run Python in the page's folder; warnings are printed as a user would see them."""
        printed = io.StringIO()
        with (
            contextlib.redirect_stdout(printed),
            contextlib.chdir(self.folder.name),
            warnings.catch_warnings(record=True) as warned,
        ):
            warnings.simplefilter("always")
            exec(compile(code, "<page>", "exec"), self.names)
        shown = [f"{w.category.__name__}: {w.message}\n" for w in warned]
        return printed.getvalue() + "".join(shown)

    def sh(self, code: str, exit_code: int) -> str:
        """Run commands in the page's folder, with this Python's programs first."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        done = subprocess.run(
            ["bash", "-c", f"set -eu\n{code}"],
            cwd=self.folder.name, env=os.environ | {"PATH": path, "COLUMNS": "86", "NO_COLOR": "1"},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        if done.returncode != exit_code:
            raise RuntimeError(f"exit code {done.returncode}, not {exit_code}:\n{done.stdout}")
        return done.stdout
