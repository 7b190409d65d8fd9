"""Which labels rows hold: match probabilities by group, and pairs inside a group."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy.sparse import coo_array

from ...kernels.types import FloatArray, IntArray
from ..settings import SHOW
from ._fitted import need, plain
from ._style import panels


class MatchDisplay:
    """Heat map of match probabilities.

    There are two kinds. "groups" has one line per group, the lowest probabilities first, and one
    cell per row: the probability that the label given beside it is its own. "pairs" shows one
    group: in line i and column j the probability that row i holds label j. Rows are sorted by
    their fitted values. Labels stand beside their rows, or are sorted by size where the order is
    lost; either way a certain match is a sharp diagonal. More than 60 cells are averaged.

    Parameters
    ----------
    matrix : array of shape (n_lines, n_cells)
        Probabilities; nan where there is no cell.
    kind : {"groups", "pairs"}
        What lines and cells are.
    names : sequence of str
        Names of the groups, for "groups"; of the group, if there are others, for "pairs".
    lost : bool, default=False
        For "pairs": whether labels are sorted by size.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    image_ : matplotlib AxesImage

    Examples
    --------
    >>> from unshuffle import StochasticEMRegressor
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> from unshuffle.show.plots import MatchDisplay
    >>> data = make_shuffled_regression(60, 2, shuffle="groups", n_groups=6, random_state=0)
    >>> model = StochasticEMRegressor(random_state=0).fit(data.X, data.y, groups=data.groups)
    >>> MatchDisplay.from_estimator(model, groups=data.groups).matrix.shape
    (6, 10)
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
        groups: Any = None,
        known: Any = None,
        max_groups: int = SHOW.most_groups,
        ax: Any = None,
    ) -> Self:
        """Draw the match probabilities of a fitted model, group by group.

        Parameters
        ----------
        model : estimator
            Fitted, with `match_proba_`.
        groups : array-like of shape (n_samples,), optional
            The groups of the fit; needed where there are several.
        known : array-like of bool of shape (n_samples,), optional
            Rows to leave out because their label is known to be their own.
        max_groups : int, default=40
            Show at most so many groups, those with the lowest mean probability.
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        display : MatchDisplay
        """
        advice = "it needs labels given beside rows, and variant='exact'"
        proba = need(model, "match_proba_", advice)
        if groups is None and model.n_groups_ > 1:
            groups = need(model, "row_groups_", "pass groups, the groups of the fit")
            known = groups < 0
        found = _movable(np.zeros(len(proba)) if groups is None else groups, known, len(proba))
        if not found:
            raise ValueError("no label of this fit can move, so there is no match to show")
        shown = sorted(found, key=lambda name: proba[found[name]].mean())[:max_groups]
        lines = [_averaged(np.sort(proba[found[name]])) for name in shown]
        matrix = np.full((len(lines), max(len(line) for line in lines)), np.nan)
        for line, values in zip(matrix, lines, strict=True):
            line[: len(values)] = values
        return cls(matrix, "groups", shown).plot(ax=ax)

    @classmethod
    def from_pairs(
        cls, pair_proba: Any, fitted: Any, labels: Any = None, *, name: str = "", ax: Any = None
    ) -> Self:
        """Draw the probabilities of all pairs of a row and a label in one group.

        Parameters
        ----------
        pair_proba : array-like or sparse array of shape (m, m)
            In row i and column j the probability that row i holds the label given beside row j.
        fitted : array-like of shape (m,)
            Fitted values, by which rows are sorted.
        labels : array-like of shape (m,), optional
            The labels, which are then sorted by size: for a lost order. By default they stand
            beside their rows.
        name : str, optional
            Name of the group.
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        display : MatchDisplay

        Examples
        --------
        >>> import numpy as np
        >>> from unshuffle.show.plots import MatchDisplay
        >>> MatchDisplay.from_pairs([[0.9, 0.1], [0.1, 0.9]], fitted=[2.0, 1.0]).matrix[0]
        array([0.9, 0.1])
        """
        pairs, size = coo_array(pair_proba), len(fitted)
        if pairs.shape != (size, size) or (labels is not None and len(labels) != size):
            raise ValueError(
                f"pair_proba has shape {pairs.shape} but there are {size} fitted values; give one "
                "row and one column for each row of the group"
            )
        by_fitted = _places(fitted)
        by_label = by_fitted if labels is None else _places(labels)
        cell = np.searchsorted(_cuts(size), np.arange(size), side="right") - 1
        sizes = np.bincount(cell)
        matrix = np.zeros((len(sizes), len(sizes)))
        np.add.at(matrix, (cell[by_fitted[pairs.row]], cell[by_label[pairs.col]]), pairs.data)
        names = [name] if name else []
        return cls(matrix / sizes[:, None], "pairs", names, lost=labels is not None).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw; `ax` is where, or None for a new figure."""
        groups = self.kind == "groups"
        self.figure_, (axes,) = panels(ax, size=(6.4, 4.6))
        self.ax_ = axes
        # The lightness of cividis increases steadily: the same in grey and for the colour-blind.
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
            axes.set_xlabel("rows of the group, lowest probability first")
            axes.set_ylabel("group, lowest probability first")
            _tick_names(axes, self.names)
            axes.set_xticks([])
        else:
            bar.set_label("probability")
            group = f": group {plain(self.names[0])}" if self.names else ""
            axes.set_title(f"Which row holds which label{group}", loc="left")
            order = "by size" if self.lost else "in the order of the rows they were given beside"
            axes.set_xlabel(f"labels, {order}")
            axes.set_ylabel("rows, by fitted value")
            axes.set_xticks([])
            axes.set_yticks([])
        return self


def _tick_names(axes: Any, names: list[str]) -> None:
    """As many names as can be read."""
    step = -(-len(names) // SHOW.most_ticks)
    places = np.arange(0, len(names), step)
    axes.set_yticks(places, [plain(names[k]) for k in places])


def _movable(groups: Any, known: Any, n_rows: int) -> dict[str, IntArray]:
    """Rows that can exchange labels, by name of their group, in order of first appearance."""
    given = np.asarray(groups)
    if given.shape != (n_rows,):
        raise ValueError(
            f"groups has shape {given.shape} but the model was fitted to {n_rows} rows; give the "
            "groups of the fit"
        )
    rows = np.arange(n_rows) if known is None else np.flatnonzero(~np.asarray(known, bool))
    names, firsts, codes, sizes = np.unique(
        given[rows].astype(str), return_index=True, return_inverse=True, return_counts=True
    )
    members = np.split(rows[np.argsort(codes, kind="stable")], np.cumsum(sizes)[:-1])
    return {str(names[k]): members[k] for k in np.argsort(firsts) if sizes[k] > 1}


def _places(values: Any) -> IntArray:
    """The place of each value in ascending order."""
    places = np.empty(len(values), dtype=np.int64)
    places[np.argsort(values, kind="stable")] = np.arange(len(values))
    return places


def _averaged(values: FloatArray) -> FloatArray:
    firsts = _cuts(len(values))
    means: FloatArray = np.add.reduceat(values, firsts) / np.diff(firsts, append=len(values))
    return means


def _cuts(size: int) -> IntArray:
    """Where each of up to `most_cells` cells starts."""
    n_cells = min(size, SHOW.most_cells)
    return np.arange(n_cells, dtype=np.int64) * size // n_cells
