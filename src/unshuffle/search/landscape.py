"""The matched sum of squares as a function of the coefficients.

In an orthonormal basis B of the (centred) columns of X, coefficients are a vector θ of length
rank(X) whose distances are those of fitted values. For a matching v of the labels the sum of
squares is ``‖y‖² - ‖B v‖²``, so that the search is for the longest ``B v``, and

    g(θ) = max over matchings v of <θ, B v>,     max over unit θ of g(θ) = max ‖B v‖.

A hard EM step leads from θ to the ``B v`` at which g(θ) is attained: to its gradient. The name says
what a search meets: a function of θ with many local optima.
"""

from collections.abc import Callable
from copy import copy

import numpy as np

from ..alignment.hard import ranked_labels
from ..alignment.state import State
from ..data.problem import Problem
from ..data.threads import Workers
from ..em.memory import noise_scale, start_from_coefficients
from ..families.least_squares import LeastSquares
from ..kernels.hard_em import Labels, coordinates, descend, support
from ..kernels.types import FloatArray
from .settings import DEFAULT, SearchSettings


class Landscape:
    """Labels to be matched, in the orthonormal basis, and how the work is cut for threads.

    Attributes
    ----------
    rank : int
    total : float
        ``‖y‖²``, centred when there is an intercept.
    y : array of shape (n,)
        Labels, arranged (and centred).
    n_steps : int
        Hard steps taken so far.
    """

    def __init__(
        self,
        problem: Problem,
        solver: LeastSquares,
        workers: Workers,
        settings: SearchSettings = DEFAULT,
    ) -> None:
        self.problem = problem
        self.solver = solver
        self.workers = workers
        self.settings = settings
        basis = np.ascontiguousarray(problem.arrange(solver.basis()).T)
        self.rank = len(basis)
        self.y = problem.y - problem.y.mean() if solver.fit_intercept else problem.y
        self.labels = Labels(basis, self.y[ranked_labels(problem)], problem.starts)
        self.total = float(self.y @ self.y)
        self.n_steps = 0
        self.work_per_step = problem.n_rows * (self.rank + settings.descent.sort_columns)

    def with_labels(self, y: FloatArray) -> "Landscape":
        """The same rows and groups with other (arranged) labels."""
        problem = self.problem
        other = Problem(problem.X, y, problem.starts, problem.order, problem.n_groups)
        changed = copy(self)
        changed.problem, changed.n_steps = other, 0
        changed.y = y - y.mean() if self.solver.fit_intercept else y
        changed.labels = self.labels._replace(ascending=changed.y[ranked_labels(other)])
        changed.total = float(changed.y @ changed.y)
        return changed

    def descend(self, thetas: FloatArray, n_iter: int, *, momentum: float = 0.0) -> FloatArray:
        """Take up to `n_iter` hard steps from each row of `thetas`, in place.

        Returns the explained sum of squares of each, ``‖theta‖²``.
        """
        explained = np.full(len(thetas), -1.0)
        settled = np.zeros(len(thetas), dtype=np.bool_)
        steps_per_call = min(self.steps_within_a_call(), n_iter)
        per_call = self.steps_within_a_call(steps_per_call)
        stop = self.settings.descent.smallest_gain * self.total
        for done in range(0, n_iter, steps_per_call):
            n_steps = min(steps_per_call, n_iter - done)

            def advance(rows: slice, n_steps: int = n_steps) -> int:
                return descend(
                    self.labels, thetas[rows], explained[rows], settled[rows], n_steps,
                    stop, momentum,
                )  # fmt: skip

            self.n_steps += sum(self._over(advance, len(thetas), per_call))
            if settled.all():
                break
        return explained

    def steps_within_a_call(self, together: int = 1) -> int:
        """How many times so many steps are made in one call of a kernel."""
        return max(1, self.settings.descent.work_per_call // (self.work_per_step * together))

    def support(self, thetas: FloatArray) -> FloatArray:
        """g(θ) of each row of `thetas`."""
        values = np.empty(len(thetas))

        def evaluate(rows: slice) -> None:
            support(self.labels, thetas[rows], values[rows])

        self._over(evaluate, len(thetas), self.steps_within_a_call())
        return values

    def theta_of(self, fitted: FloatArray) -> FloatArray:
        """Coordinates of (arranged) fitted values or labels."""
        theta = np.empty(self.rank)
        coordinates(self.labels.basis, fitted, theta)
        return theta

    def state(self, theta: FloatArray) -> State:
        """Initial values for EM: coefficients, and the noise of the matched residuals."""
        fitted = theta @ self.labels.basis
        solution = self.solver.solve(self.problem.restore(fitted + (self.problem.y - self.y)))
        state = start_from_coefficients(
            self.problem, self.solver, solution.coef, solution.intercept
        )
        objective = max(self.total - float(theta @ theta), 0.0)
        noise = noise_scale(self.problem, self.solver, objective)
        return state._replace(noise_scale=noise, objective=objective)

    def _over(self, function: Callable[[slice], int | None], size: int, per_call: int) -> list[int]:
        """Apply `function` to slices of `size` candidates, on all threads."""
        per_thread = -(-size // (4 * self.workers.n_jobs))
        step = max(1, min(per_call, per_thread))
        tasks = [slice(k, min(k + step, size)) for k in range(0, size, step)]
        return [done or 0 for done in self.workers.map(function, tasks)]
