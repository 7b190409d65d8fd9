"""Draw docs/pictures/layers.svg, the packages in layers, from the contract in pyproject.toml.

Usage: python docs/make_layers.py. A test fails where the picture is older than the layers.
"""

import re
import tomllib
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURE = Path(__file__).parent / "pictures" / "layers.svg"
WIDTH, ROW, GAP, LEFT, TOP = 860, 34, 10, 150, 16

# What layers are for: the first package of a layer decides.
PURPOSES = {
    "what a user calls": {"cli", "paper", "estimators"},
    "fits": {"fits"},
    "shown and shipped": {"show"},
    "start and judge": {"inference"},
    "EM and data": {"em", "alignment"},
    "compiled loops": {"kernels"},
}
# Okabe and Ito's colours, so light that black and so strong that white paper bear them.
COLOURS = ("#56b4e9", "#0072b2", "#009e73", "#d55e00", "#e69f00", "#cc79a7", "#7f7f7f")
STYLE = """
    text { font: 14px system-ui, sans-serif; fill: #1a1a1a; }
    .purpose { font-size: 12.5px; fill: #555; }
    .module { fill-opacity: 0.16; stroke-width: 1.4; }
    .arrow { stroke: #555; fill: #555; }
    @media (prefers-color-scheme: dark) {
      .paper { fill: #14181e; } text { fill: #f0f0f0; } .purpose { fill: #b0b0b0; }
      .module { fill-opacity: 0.3; } .arrow { stroke: #b0b0b0; fill: #b0b0b0; }
    }
"""


def read_layers() -> list[list[str]]:
    """Packages from the outside in, those of one layer together."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(c["layers"] for c in contracts if c["type"] == "layers")
    return [
        [name.strip().removeprefix("unshuffle.") for name in re.split("[|:]", layer)]
        for layer in layers
    ]


def purpose_of(modules: list[str], before: int) -> int:
    """Number of the purpose of a layer; that of the layer above where none is named."""
    for number, known in enumerate(PURPOSES.values()):
        if modules[0] in known:
            return number
    return before


def draw(layers: list[list[str]]) -> str:
    """The picture as SVG."""
    parts, y, before = [], TOP, -1
    for modules in layers:
        purpose = purpose_of(modules, max(before, 0))
        if purpose != before:
            y += GAP if before >= 0 else 0
            name = escape(list(PURPOSES)[purpose])
            parts.append(f'<text class="purpose" x="12" y="{y + 22}">{name}</text>')
        parts += draw_layer(modules, y, COLOURS[purpose])
        y, before = y + ROW + 4, purpose
    height = y + TOP - 4
    arrow = (
        f'<path class="arrow" d="M {LEFT - 16} {TOP} V {height - TOP - 8}" fill="none"/>'
        f'<path class="arrow" d="M {LEFT - 21} {height - TOP - 9} h 10 l -5 9 z"/>'
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}" role="img">',
            "<title>Packages of unshuffle; imports point downwards only</title>",
            f"<style>{STYLE}</style>",
            f'<rect class="paper" width="{WIDTH}" height="{height}" rx="8" fill="#ffffff"/>',
            *parts, arrow, "</svg>", "",
        ]
    )  # fmt: skip


def draw_layer(modules: list[str], y: int, colour: str) -> list[str]:
    """Rooms of one layer side by side."""
    width = (WIDTH - LEFT - 12 - 6 * (len(modules) - 1)) / len(modules)
    parts = []
    for k, module in enumerate(modules):
        x = LEFT + k * (width + 6)
        middle = x + width / 2
        parts += [
            f'<rect class="module" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{ROW}" rx="5" '
            f'fill="{colour}" stroke="{colour}"/>',
            f'<text x="{middle:.1f}" y="{y + 22}" text-anchor="middle">{escape(module)}</text>',
        ]
    return parts


if __name__ == "__main__":
    PICTURE.write_text(draw(read_layers()))
