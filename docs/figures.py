"""What the pictures of the pages share: colours, looks, and where they are saved."""

from pathlib import Path

PICTURES = Path(__file__).with_name("pictures")
# Okabe and Ito's colours: distinct for colour-blind readers.
BLUE, ORANGE, GREEN, VERMILION = "#0072b2", "#e69f00", "#009e73", "#d55e00"


def open_sides(axis):
    """No lines at the top and on the right."""
    axis.spines[["top", "right"]].set_visible(False)


def save(figure, name):
    """Write docs/pictures/NAME.png."""
    PICTURES.mkdir(exist_ok=True)
    figure.savefig(PICTURES / f"{name}.png", dpi=150)
