"""Numbers of the alignments, and why they have their values."""

from dataclasses import dataclass


@dataclass(frozen=True)
class WorkSettings:
    """How work is cut for threads. It decides who does what and when, never the answer."""

    # Of one call of a kernel: a few tenths of a second at worst, then an interruption takes effect.
    proposals_per_piece: int = 1 << 21
    visits_per_piece: int = 1 << 22
    rows_per_piece: int = 1 << 20
    # Below this much work a second thread costs more than it brings.
    proposals_per_thread: int = 1 << 15
    visits_per_thread: int = 1 << 15


@dataclass(frozen=True)
class GridSettings:
    """Sinkhorn's products on a grid."""

    nodes_per_noise: int = 24
    # In noise: rows farther from all labels (or labels from all rows) count as if they were so far.
    farthest: float = 30.0
    smallest: float = 1e-280  # sums below it lose their digits; then the grid is given up
    most_nodes: int = 1 << 18
    steps: int = 2_000
    steps_per_check: int = 5


@dataclass(frozen=True)
class SinkhornSettings:
    """Sinkhorn scaling."""

    tolerance: float = 1e-4  # of the row sums
    largest_dense_block: int = 5_000  # a larger matrix would need more than 200 MB
    smallest_grid_block: int = 1_000  # below it the dense matrix is as fast as the grid
    # Rounds in the log domain, and plain products between two of them.
    rounds: int = 10
    steps_per_round: int = 200
    steps_per_check: int = 10
    grid: GridSettings = GridSettings()


WORK = WorkSettings()
SINKHORN = SinkhornSettings()
LARGEST_ENUMERATED_BLOCK = 8  # 40,320 permutations
DENSITY_NODES = 1024  # of the grid on which a density of labels is tabulated


@dataclass(frozen=True)
class TiedSettings:
    """Sums of densities over the rows of a group."""

    most_distinct: int = 256  # values of a group's labels up to which each is a node
    small_block: int = 64  # rows up to which looking for equal labels does not pay
    # Distance of nodes in widths of a density, at which a cubic polynomial is wrong by 1e-5.
    step: float = 0.1
    fewest_nodes: int = 64
    most_nodes: int = 2_048
    # A group of rows is collected where it has so many times as many rows as there are nodes.
    rows_per_node: int = 3
    collects: bool = True


TIED = TiedSettings()
