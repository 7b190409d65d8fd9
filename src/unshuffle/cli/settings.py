"""Every number of the command line, with its reason."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CliSettings:
    """How much commands print and repeat."""

    # Rows of `suspects` on a screen; a file takes all of them.
    listed: int = 20
    # Splits of the demo: enough for a mean, few enough for half a minute.
    demo_splits: int = 5
    # Objects made between two collections of garbage; Python's own is 700. Libraries make very
    # many objects that stay, and collections while they load take a tenth of a command's time.
    objects_between_collections: int = 50_000


CLI = CliSettings()
