"""Tables with labels far from all others.

Whether such a label is an error cannot be known, so every fit keeps it, and the verdict says what
it changes. But it hides what the other labels show: the order is tested, and mismatches are looked
for, with a median in its place. Where the order is used, the answer is least squares as given.
"""

from dataclasses import replace

import numpy as np

from ..data.isolated import find_isolated
from ..data.problem import Problem
from ..families.least_squares import LeastSquares
from ..inference.sensitivity import relative_shift
from .as_given import largest_share
from .auto_results import Isolated, MismatchFit
from .examination import examine
from .table_fits import TableFits


def isolated_in(fits: TableFits) -> Isolated | None:
    """The isolated labels of a table; none are looked for where the order is known."""
    problem = fits.data.problem
    if fits.settings.pairing == "known" or problem.n_movable == 0:
        return None
    labels = find_isolated(problem)
    if labels is None:
        return None
    coefs = (
        fits.solver.solve(part.restore(part.y)).coef for part in (labels.replaced(problem), problem)
    )
    return Isolated(labels, relative_shift(fits.solver, *coefs))


def without_isolated(problem: Problem, isolated: Isolated | None) -> Problem:
    """The table with a median in place of each isolated label."""
    return problem if isolated is None else isolated.labels.replaced(problem)


def examine_without(problem: Problem, isolated: Isolated, noise: str) -> MismatchFit:
    """What the other labels show of mismatches, for least squares on all of them."""
    facts = examine(without_isolated(problem, isolated), noise).facts
    off = np.zeros(problem.n_rows) if facts.off_proba is None else facts.off_proba
    reference = LeastSquares(problem.X, fit_intercept=True)
    return replace(
        facts,
        answer="none" if facts.answer == "none" else "isolated",
        off_proba=isolated.labels.put_back(off, 1.0),
        largest_share=largest_share(reference, problem.restore(problem.y)),
    )
