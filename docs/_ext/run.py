"""A directive that runs what it shows: no number on a page that the build did not print.

``{run} python`` shares its names with the earlier blocks of the page, ``{run} sh`` a folder. Shown
are the code, what it printed, and the figures it left open. An error ends the build.
``:hide-code:`` shows the output alone, ``:fails: N`` expects the exit code N of a shell block.
"""

import contextlib
import hashlib
import io
import os
import subprocess
import sys
import tempfile
import traceback
import warnings
from html import escape
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

LANGUAGES = ("python", "sh")


class Page:
    """What the blocks of one page share."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "__page__"}
        self.folder = tempfile.TemporaryDirectory()

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
        told = [f"{w.category.__name__}: {w.message}\n" for w in warned]
        return printed.getvalue() + "".join(told)

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


class Run(SphinxDirective):
    """Show code and what it does."""

    has_content = True
    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {
        "hide-code": directives.flag,
        "fails": directives.nonnegative_int,
        "alt": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        """Code, output, figures."""
        language, code = self.arguments[0], "\n".join(self.content)
        if language not in LANGUAGES:
            raise self.error(f"run knows {', '.join(LANGUAGES)}, not {language!r}")
        if "run_page" not in self.env.temp_data:
            self.env.temp_data["run_page"] = Page()
        page = self.env.temp_data["run_page"]
        try:
            if language == "python":
                printed = page.python(code)
            else:
                printed = page.sh(code, self.options.get("fails", 0))
        except Exception as error:
            raise self.error(f"a block of this page fails:\n{traceback.format_exc()}") from error
        shown: list[nodes.Node] = []
        if "hide-code" not in self.options:
            shown.append(nodes.literal_block(code, code, language=language))
        if printed.strip():
            text = "\n".join(line.rstrip() for line in printed.rstrip().splitlines())
            shown.append(nodes.literal_block(text, text, language="none", classes=["printed"]))
        return shown + [self.figure(code, number) for number in open_figures()]

    def figure(self, code: str, number: int) -> nodes.Node:
        """Save an open figure beside the built pages, and close it."""
        import matplotlib.pyplot as plt

        key = hashlib.sha256(f"{self.env.docname}{code}{number}".encode()).hexdigest()[:16]
        folder = Path(self.env.app.outdir) / "_images"
        folder.mkdir(parents=True, exist_ok=True)
        figure = plt.figure(number)
        figure.savefig(folder / f"run-{key}.png", dpi=160)
        width = int(figure.get_figwidth() * 100)
        plt.close(figure)
        up = "../" * self.env.docname.count("/")
        alt = escape(self.options.get("alt", "the figure drawn by the code above"))
        image = f'<p><img src="{up}_images/run-{key}.png" alt="{alt}" width="{width}"></p>'
        return nodes.raw("", image, format="html")


def open_figures() -> list[int]:
    """Numbers of the figures that matplotlib holds open, if it was loaded at all."""
    plt = sys.modules.get("matplotlib.pyplot")
    return [] if plt is None else list(plt.get_fignums())


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("run", Run)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
