"""Formulas as MathML, which every browser draws itself: no script, no font, no network."""

import re
import unicodedata
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx


def formula(text: str, *, block: bool) -> str:
    """One formula as markup, lines and alignment included."""
    text = re.sub(r"\\dots(?![a-z])", r"\\ldots", text.strip())
    text = re.sub(r"\\hat\s*\{?([a-zA-Z])(?![a-zA-Z])\}?", with_hat, text)
    if block and (r"\\" in text or "&" in text):
        text = rf"\begin{{aligned}}{text}\end{{aligned}}"
    tree = latex2mathml.tex2mathml(text, as_block=block)
    return str(tree)


def with_hat(found: re.Match[str]) -> str:
    """One letter with its hat on: docutils would set an index of a hat below the letter."""
    letter = unicodedata.normalize("NFC", found[1] + "\N{COMBINING CIRCUMFLEX ACCENT}")
    return letter if len(letter) == 1 else found[0]


def visit_inline(self: Any, node: nodes.math) -> None:
    """A formula in a line."""
    self.body.append(formula(node.astext(), block=False))
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    """A formula of its own."""
    self.body.append(f'<div class="formula">{formula(node.astext(), block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
