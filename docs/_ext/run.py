"""A directive that runs what it shows: no number on a page that the build did not print.

``{run} python`` shares its names with the earlier blocks of the page, ``{run} sh`` a folder. Shown
are the code, what it printed, and the figures it left open. An error ends the build.
``:hide-code:`` shows the output alone, ``:fails: N`` expects the exit code N of a shell block,
``:takes: FILE`` copies a file that stands beside the page into the folder of the blocks.
"""

import hashlib
import sys
import traceback
from html import escape
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from session import Session
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Run(SphinxDirective):
    """Show code and what it does."""

    has_content = True
    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {
        "hide-code": directives.flag,
        "fails": directives.nonnegative_int,
        "alt": directives.unchanged,
        "takes": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        """Code, output, figures."""
        language, code = self.arguments[0], "\n".join(self.content)
        if "run_session" not in self.env.temp_data:
            self.env.temp_data["run_session"] = Session()
        session = self.env.temp_data["run_session"]
        try:
            if "takes" in self.options:
                session.take(
                    Path(self.env.doc2path(self.env.docname)).parent / self.options["takes"]
                )
            printed = session.run(language, code, self.options.get("fails", 0))
        except Exception as error:
            raise self.error(f"a block of this page fails:\n{traceback.format_exc()}") from error
        shown: list[nodes.Node] = []
        if "hide-code" not in self.options:
            shown.append(nodes.literal_block(code, code, language=language))
        if printed:
            block = nodes.literal_block(printed, printed, language="none", classes=["printed"])
            shown.append(block)
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
