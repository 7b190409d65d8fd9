"""The numbers of one-to-one linkage and calibration, each with its reason."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LinkageSettings:
    """How candidate pairs become links."""

    # Cells of a component that is solved as a dense matrix: 8 MB, a second at worst.
    dense_cells: int = 1_000_000
    # Records of the smaller side of a component up to which the best links are found; the time
    # grows with the square, to some seconds. Beyond, pairs are taken greedily.
    largest_exact: int = 20_000
    # Checked links that a calibration needs, and those of either kind.
    fewest_checked: int = 20
    fewest_of_kind: int = 3
    folds: int = 5
    replicates: int = 40  # bootstrap samples of the checked links; standard errors within 11 %
    # A curve learnt from a sample never says that a link is surely right or wrong.
    margin: float = 0.005


LINKAGE = LinkageSettings()
