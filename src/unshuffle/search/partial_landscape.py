"""The matched sum of squares where rows and labels are in unequal numbers.

The local step matches every item of the smaller side of each group (`kernels.partial_em`), so that
all matchings have the same number of pairs. Labels that nobody holds cost their density among the
labels of their group.
"""

import math
from dataclasses import replace

import numpy as np

from ..alignment.partial import spread_inside
from ..data.threads import Workers
from ..data.unequal import UnequalProblem
from ..em.partial import PartialTable
from ..families.least_squares import LeastSquares
from ..kernels.partial_em import PartialTables, descend_partial, hand_out_labels
from ..kernels.tied_density import log_tied_densities
from ..kernels.types import FloatArray, IntArray
from .settings import DEFAULT, SearchSettings

FIRST_SCALE = 0.1  # share of the labels' variance that the first step of a search takes for noise


class PartialLandscape:
    """The matched sum of squares as a function of coordinates; see `landscape.Landscape`.

    Attributes
    ----------
    rank : int
        Coordinates, that of the intercept included.
    total : float
        Spread of the labels, as a sum of squares over as many as can be matched.
    n_pairs, n_cells : int
        Pairs of a match, and of rows and labels that share a group.
    """

    def __init__(
        self,
        problem: UnequalProblem,
        solver: LeastSquares,
        workers: Workers,
        settings: SearchSettings = DEFAULT,
    ) -> None:
        self.problem, self.solver, self.workers = problem, solver, workers
        often = settings.partial.found_often
        self.settings = replace(
            settings,
            descent=replace(settings.descent, most_steps=settings.partial.most_steps),
            population=replace(settings.population, found_often=often, found_again=often),
        )
        self.Z = PartialTable(problem, solver, (0.0, 1.0)).Z
        self.rank = self.Z.shape[1]
        known = np.arange(1, problem.n_known + 1)
        starts = (
            np.concatenate([problem.row_starts, problem.n_open_rows + known]),
            np.concatenate([problem.label_starts, problem.n_open_labels + known]),
        )
        self.tables = PartialTables(self.Z, problem.y, prices(problem), *starts)
        self.n_pairs = problem.most_pairs + problem.n_known
        self.total = max(self.n_pairs * float(problem.y.var()), np.finfo(float).tiny)
        rows, labels = np.diff(starts[0]), np.diff(starts[1])
        self.n_cells = int((rows * labels).sum())
        cells = check_cells(rows, labels, settings.partial.most_cells)
        # Sums for the normal equations cost a visit for every product of two columns.
        self.work_per_step = cells + problem.n_rows * (
            self.rank * (self.rank + 3) // 2 + settings.descent.sort_columns
        )

    def with_labels(self, y: FloatArray) -> "PartialLandscape":
        """The same rows and groups with other (arranged) labels."""
        return PartialLandscape(
            self.problem.with_labels(y), self.solver, self.workers, self.settings
        )

    def descend(
        self,
        thetas: FloatArray,
        n_iter: int,
        *,
        momentum: float = 0.0,
        first_scale: float = FIRST_SCALE,
    ) -> FloatArray:
        """Take up to `n_iter` hard steps from each row of `thetas`, in place.

        The first step takes the share `first_scale` of the labels' variance for noise: 0 stays
        where `thetas` are, more looks farther around. Returns what each explains of `total`.
        """
        objectives = np.full(len(thetas), np.inf)
        scales = np.full(len(thetas), first_scale * self.total / self.n_pairs)
        settled = np.zeros(len(thetas), dtype=np.bool_)
        per_call = max(1, self.settings.descent.work_per_call // self.work_per_step)
        steps = min(per_call, n_iter)
        together = max(1, min(per_call // steps, -(-len(thetas) // (4 * self.workers.n_jobs))))
        tasks = [slice(k, k + together) for k in range(0, len(thetas), together)]
        for done in range(0, n_iter, steps):
            n_steps = min(steps, n_iter - done)

            def advance(rows: slice, n_steps: int = n_steps) -> int:
                return descend_partial(
                    self.tables, thetas[rows], objectives[rows], scales[rows], settled[rows],
                    n_steps, self.settings.descent.smallest_gain, momentum,
                )  # fmt: skip

            self.workers.map(advance, tasks)
            if settled.all():
                break
        return np.asarray(self.total - objectives)

    def match(self, theta: FloatArray) -> IntArray:
        """The label that each row holds at `theta`, or -1; the smaller sides are all matched."""
        partner = np.empty(self.problem.n_rows, dtype=np.int64)
        hand_out_labels(self.tables, self.Z @ theta, 0.0, partner)
        return partner

    def log_likelihood(self, theta: FloatArray) -> float:
        """Of all labels at their match, those of nobody under the density tied to `theta`."""
        problem, partner = self.problem, self.match(theta)
        mu, holds = self.Z @ theta, partner >= 0
        squares = float(((problem.y[partner[holds]] - mu[holds]) ** 2).sum())
        floor = self.settings.nulls.smallest * self.total
        noise = math.sqrt(max(squares, floor) / max(self.n_pairs - self.rank, 1))
        rows, labels = problem.n_open_rows, problem.n_open_labels
        alone = np.ones(problem.n_labels, dtype=np.bool_)
        alone[partner[holds]] = False
        density = np.zeros(labels)
        if alone.any():
            starts = problem.row_starts
            log_tied_densities(
                mu[:rows], problem.y[:labels], starts, problem.label_starts, noise,
                spread_inside(mu[:rows], starts), density,
            )  # fmt: skip
        return float(density[alone[:labels]].sum()) - self.n_pairs * math.log(noise)


def check_cells(rows: IntArray, labels: IntArray, most: int) -> int:
    """Cells of all tables of rows and labels; one that is too large for memory is refused."""
    cells = np.minimum(rows, labels) * (np.abs(rows - labels) + 1)
    largest = int(np.argmax(cells)) if len(cells) else 0
    if len(cells) and cells[largest] > most:
        raise ValueError(
            f"a group has {rows[largest]} rows and {labels[largest]} labels, which are too many to "
            f"be matched ({int(cells[largest]):,} cells, at most {most:,}); use smaller groups, or "
            "a sample of whole groups"
        )
    return int(cells.sum())


def prices(problem: UnequalProblem) -> FloatArray:
    """Minus the log density of each open label among those of its group; known ones cost nothing.

    Less the mean of the group, so that neither units nor the number of labels matter.
    """
    price, labels = np.zeros(problem.n_labels), problem.n_open_labels
    if labels:
        y, starts = problem.y[:labels], problem.label_starts
        spread = spread_inside(y, starts)
        if spread > 0.0:
            log_tied_densities(y, y, starts, starts, 0.0, spread, price[:labels])
            means = np.add.reduceat(price[:labels], starts[:-1]) / problem.group_labels
            price[:labels] = np.repeat(means, problem.group_labels) - price[:labels]
    return price
