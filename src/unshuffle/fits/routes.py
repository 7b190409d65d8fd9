"""Limits by which the default fit decides what kind of shuffle it is."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RouteSettings:
    """When the order given is used.

    Attributes
    ----------
    informative, perhaps : float
        p-values of the order test. Below the first the order carries information. Up to the second
        it may, which is assumed if a first fit that assumes it finds many rows near a line, or if
        a search finds nothing.
    nothing_left : float
        With so large a rate of mismatches nothing of the order is left.
    fewest_candidates : int
        A search that can afford fewer is not made.
    most_sweeps, fewest_sweeps, enough_steps : int
        Proposals per row of the chain at inflated noise: fewer where there are many rows, over
        which its Monte Carlo error averages out.
    curve_p : float
        p-value of a plane below which labels in lost order are aligned around a curve: strict,
        because a curve costs precision, and what it mends is large.
    curve_rows, curve_groups, curve_cells : int
        Rows for each coefficient of the curve, groups beyond their number (as many as a regression
        of group means needs), and entries of its table. With fewer of the first two, or more of
        the last, there is no curve.
    """

    informative: float = 0.001
    perhaps: float = 0.2
    nothing_left: float = 0.9
    fewest_candidates: int = 50
    most_sweeps: int = 20
    fewest_sweeps: int = 4
    enough_steps: int = 400_000
    curve_p: float = 0.01
    curve_rows: int = 10
    curve_groups: int = 9
    curve_cells: int = 10_000_000


ROUTES = RouteSettings()
