"""Who probably belongs to whom, group by group."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ...data.problem import Problem
from ...kernels.types import FloatArray, IntArray
from ._fitted import need, plain
from ._style import panels

MOST_CELLS = 60  # along one side; what is longer is averaged
MOST_GROUPS = 40
NO_PAIRING = "it needs a permutation model: ShuffledRegressor, or StochasticEMRegressor 'exact'"


class MatchDisplay:
    """Heat map of match probabilities.

    There are two kinds. "groups" has one line per group, the most doubtful at the top, and one
    cell per row: the probability that the label given beside it is its own. "pairs" shows one
    group: in line i and column j the probability that row i holds label j. Rows stand in the order
    of their fitted values. Labels stand beside their rows where the order given means something,
    and in their own order where it is lost; either way certainty is a sharp diagonal. What is
    longer than 60 cells is averaged.

    Parameters
    ----------
    matrix : array of shape (n_lines, n_cells)
        Probabilities; nan where there is no cell.
    kind : {"groups", "pairs"}
        What lines and cells are.
    names : sequence of str
        Names of the groups, for "groups"; of the group, if there are others, for "pairs".
    lost : bool, default=False
        For "pairs": whether labels stand in their own order.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    image_ : matplotlib AxesImage

    Examples
    --------
    >>> from unshuffle import StochasticEMRegressor
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> from unshuffle.plots import MatchDisplay
    >>> data = make_shuffled_regression(60, 2, shuffle="groups", n_groups=6, random_state=0)
    >>> model = StochasticEMRegressor(random_state=0).fit(data.X, data.y, groups=data.groups)
    >>> MatchDisplay.from_estimator(model).matrix.shape
    (6, 10)
    >>> MatchDisplay.from_estimator(model, group=0).matrix.shape
    (10, 10)
    """

    ax_: Any
    figure_: Any
    image_: Any

    def __init__(
        self, matrix: FloatArray, kind: str, names: Sequence[str], *, lost: bool = False
    ) -> None:
        self.matrix = matrix
        self.kind = kind
        self.names = list(names)
        self.lost = lost

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        *,
        group: Any = None,
        groups: Any = None,
        max_groups: int = MOST_GROUPS,
        ax: Any = None,
    ) -> Self:
        """Draw the match probabilities of a fitted model.

        Parameters
        ----------
        model : estimator
            Fitted `ShuffledRegressor`, or `StochasticEMRegressor` of the exact variant.
        group : int or name, optional
            Show the pairs of this group: its number among the groups in which labels can move, in
            order of first appearance, or its name where `groups` is given. By default all groups
            are shown, or the pairs where there is but one.
        groups : array-like of shape (n_samples,), optional
            The groups of the fit, for their names.
        max_groups : int, default=40
            Show at most so many groups, the most doubtful.
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        display : MatchDisplay
        """
        pairing = need(model, "_pairing", NO_PAIRING)
        problem = pairing.problem
        if problem.n_blocks == 0:
            raise ValueError("no label of this fit can move, so there is no match to show")
        names = _block_names(problem, groups)
        told = hasattr(model, "match_proba_")
        if group is None and problem.n_blocks > 1 and told:
            matrix, shown = _by_group(problem, model.match_proba_, max_groups)
            return cls(matrix, "groups", [names[k] for k in shown]).plot(ax=ax)
        number = _find(0 if group is None else group, names, by_name=groups is not None)
        lost = not pairing.prior.mostly_right and pairing.prior.places is None
        name = [names[number]] if problem.n_blocks > 1 else []
        return cls(_pairs(pairing, number, lost), "pairs", name, lost=lost).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw; `ax` is where, or None for a new figure."""
        groups = self.kind == "groups"
        self.figure_, (axes,) = panels(ax, size=(6.4, 4.6))
        self.ax_ = axes
        # Cividis grows steadily in lightness: the same in grey and to the colour-blind.
        self.image_ = axes.imshow(
            self.matrix, cmap="cividis", vmin=0.0, vmax=1.0 if groups else None,
            aspect="auto", interpolation="none",
        )  # fmt: skip
        bar = self.figure_.colorbar(self.image_, ax=axes, fraction=0.05, pad=0.02)
        bar.outline.set_visible(False)
        axes.spines[:].set_visible(False)
        if groups:
            bar.set_label("probability of holding its own label")
            axes.set_title("Match probabilities by group", loc="left")
            axes.set_xlabel("rows of the group, the most doubtful first")
            axes.set_ylabel("group, the most doubtful first")
            _tick_names(axes, self.names)
            axes.set_xticks([])
        else:
            bar.set_label("probability")
            group = f": group {plain(self.names[0])}" if self.names else ""
            axes.set_title(f"Who holds which label{group}", loc="left")
            order = "by size" if self.lost else "in the order of the rows they were given beside"
            axes.set_xlabel(f"labels, {order}")
            axes.set_ylabel("rows, by fitted value")
            axes.set_xticks([])
            axes.set_yticks([])
        return self


def _tick_names(axes: Any, names: list[str]) -> None:
    """As many names as can be read."""
    step = -(-len(names) // 20)
    places = np.arange(0, len(names), step)
    axes.set_yticks(places, [plain(names[k]) for k in places])


def _block_names(problem: Problem, groups: Any) -> list[str]:
    if groups is None:
        return [str(k) for k in range(problem.n_blocks)]
    given = np.asarray(groups)
    if given.shape != (problem.n_rows,):
        raise ValueError(
            f"groups has shape {given.shape} but the model was fitted to {problem.n_rows} rows; "
            "give the groups of the fit"
        )
    return [str(name) for name in given[problem.user_rows(problem.starts[:-1])]]


def _find(group: Any, names: list[str], *, by_name: bool) -> int:
    if by_name and str(group) in names:
        return names.index(str(group))
    if not by_name and isinstance(group, int | np.integer) and 0 <= group < len(names):
        return int(group)
    allowed = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    raise ValueError(
        f"there is no group {group!r} in which labels can move; there are {len(names)}: {allowed}"
    )


def _by_group(
    problem: Problem, match_proba: FloatArray, max_groups: int
) -> tuple[FloatArray, IntArray]:
    """Sorted probabilities of each group, one line each, and the numbers of the groups."""
    blocks = np.split(problem.arrange(match_proba)[: problem.n_movable], problem.starts[1:-1])
    shown = np.argsort([block.mean() for block in blocks], kind="stable")[:max_groups]
    lines = [_averaged(np.sort(blocks[k])) for k in shown]
    matrix = np.full((len(lines), max(len(line) for line in lines)), np.nan)
    for line, values in zip(matrix, lines, strict=True):
        line[: len(values)] = values
    return matrix, shown


def _averaged(values: FloatArray) -> FloatArray:
    firsts = _cuts(len(values))
    means: FloatArray = np.add.reduceat(values, firsts) / np.diff(firsts, append=len(values))
    return means


def _cuts(size: int) -> IntArray:
    """Where up to `MOST_CELLS` cells begin."""
    n_cells = min(size, MOST_CELLS)
    return np.arange(n_cells, dtype=np.int64) * size // n_cells


def _pairs(pairing: Any, number: int, lost: bool) -> FloatArray:
    """Probability that a row of the group holds each label of the group."""
    problem, state = pairing.problem, pairing.state
    first, last = int(problem.starts[number]), int(problem.starts[number + 1])
    rows = first + np.argsort(state.fitted[first:last], kind="stable")
    labels = first + np.argsort(problem.y[first:last], kind="stable") if lost else rows
    column = np.empty(last - first, dtype=np.int64)
    column[labels - first] = np.arange(last - first)
    cuts = _cuts(last - first)
    cell = np.zeros(last - first, dtype=np.int64)
    cell[cuts[1:]] = 1
    cell = np.cumsum(cell)
    matrix = np.zeros((len(cuts), len(cuts)))
    for line, held in zip(cell, pairing.partners(rows), strict=True):
        for label, share in held.items():
            matrix[line, cell[column[label - first]]] += share
    averaged: FloatArray = matrix / np.bincount(cell)[:, None]
    return averaged
