"""Every number of the command line, with its reason."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CliSettings:
    """How much commands print and repeat."""

    # Rows of `suspects` on a screen; a file takes all of them.
    listed: int = 20
    # Zones of the demo: a fit to trust, one with caution, and one to reject.
    demo_zones: tuple[int, ...] = (100, 60, 4)
    # Objects made between two collections of garbage; Python's own is 700. Libraries make very
    # many objects that stay, and collections while they load take a tenth of a command's time.
    objects_between_collections: int = 50_000


CLI = CliSettings()
