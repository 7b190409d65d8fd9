"""EM for labels in lost order whose noise has a law of its own: a mixture of normals."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..alignment.law_chain import LawAlignment, LawChain
from ..alignment.state import State
from ..data.problem import Problem
from ..families.law_tables import centred, scaled, standard_deviation
from ..families.least_squares import LeastSquares
from ..families.noise import NoiseShape, next_law
from ..kernels.streams import FIRST_LAW
from ..kernels.types import FloatArray
from .partial import coordinates_of_rows, to_coefficients
from .table import IteratedTable

SMALLEST_RELATIVE_SCALE = 1e-7  # of the spread of the labels
NARROWEST = 0.05  # smallest scale of a component, as a share of the largest


class LawTable(IteratedTable[LawAlignment]):
    r"""Labels ``y = x w + e`` in lost order, where e is a mixture of normals with mean zero.

    Given the label that a row holds, the posterior weights :math:`p_{ik}` of the normals make the
    M-step weighted least squares,

    .. math::

        \sum_i E\Big[ \sum_k \frac{p_{ik}}{c_k^2} (y_{\pi(i)} - t_k - x_i^\top w) \Big] x_i = 0,

    and the law follows from the sums of the weights times 1, u and u² over all residuals u.

    Parameters
    ----------
    problem : Problem
    solver : LeastSquares
    shape : NoiseShape
        Which laws are allowed.
    chain : LawChain
        Gives the information at the end, and the E-step unless `aligner` does.
    aligner : callable or None
    """

    solver: LeastSquares

    def __init__(
        self,
        problem: Problem,
        solver: LeastSquares,
        shape: NoiseShape,
        chain: LawChain,
        aligner: Callable[[State, int], LawAlignment] | None = None,
    ) -> None:
        self.problem, self.solver, self.shape, self.chain = problem, solver, shape, chain
        self.aligner = chain if aligner is None else aligner
        self.n_rows = problem.n_rows
        rows = coordinates_of_rows(problem.X, solver)
        self.Z = rows if problem.order is None else rows[problem.order]
        self.smallest = SMALLEST_RELATIVE_SCALE * (problem.label_spread or 1.0)

    def align(self, state: State, stream: int) -> LawAlignment:
        """Expected labels and sums at `state`."""
        return self.aligner(state, FIRST_LAW + stream)

    def solve(self, expected: LawAlignment) -> State:
        """Weighted least squares, then the law around the new fitted values."""
        before, sums = expected.state, expected.sums
        gram = (self.Z * sums.weight[:, None]).T @ self.Z
        goal = self.Z.T @ (sums.weight * before.fitted + sums.pull)
        theta = np.linalg.lstsq(gram, goal, rcond=1e-12)[0]
        fitted = self.Z @ theta
        # Residuals were counted around the fitted values before; most of what moved is the mean.
        nodes = expected.tables.nodes - float((fitted - before.fitted).mean())
        counts = sums.histogram[:, None] * expected.tables.shares
        component = np.stack([counts.sum(axis=0), nodes @ counts, nodes**2 @ counts])
        law = next_law(self.shape, component, NARROWEST, self.smallest, centred=False)
        law, mean = centred(law)
        if not self.solver.fit_intercept:
            mean = 0.0
        coef, intercept, fitted = to_coefficients(self.solver, self.problem.restore(fitted + mean))
        residual = sums.expected - self.problem.arrange(fitted)
        return State(
            coef, intercept, standard_deviation(law), float(residual @ residual),
            fitted=self.problem.arrange(fitted), labels=self.problem.y, perm=expected.perm,
            match_proba=sums.matched, law=law,
        )  # fmt: skip

    def move(self, state: State, coef: FloatArray, intercept: float, **others: Any) -> State:
        """`state` at other parameters; another noise scales the law."""
        assert state.law is not None
        noise = others.get("noise_scale", state.noise_scale)
        law = scaled(state.law, noise / state.noise_scale)
        fitted = self.problem.arrange(self.solver.predict(coef, intercept))
        return super().move(state, coef, intercept, fitted=fitted, law=law, **others)
