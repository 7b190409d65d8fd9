"""The parts of a fit to rows and labels in unequal numbers, in the user's order."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..alignment.partial import PartialAlignment, likely_matching
from ..alignment.state import State
from ..data.unequal import UnequalProblem
from ..em.loop import EMResult
from ..em.partial import PartialTable, coefficient_covariance
from ..em.partial_information import PartialCovariance, PartialSnapshots
from ..kernels.swap import Schedule
from ..kernels.types import IntArray
from ..search.partial import PartialFinding
from ..search.partial_landscape import PartialLandscape
from .auto_results import SearchFit
from .results import (
    Design,
    Errors,
    Matches,
    StochasticFit,
    Uncertainty,
    iterations_of,
    standard_errors_of,
)
from .unequal_results import UnmatchedFit

NAN = float("nan")


class Assembly(NamedTuple):
    """Where EM ended, and what the chain showed there.

    Attributes
    ----------
    table : PartialTable
    state : State
    found : PartialSnapshots
    covariance : PartialCovariance
    centre : float
        What was taken off the labels.
    """

    table: PartialTable
    state: State
    found: PartialSnapshots
    covariance: PartialCovariance
    centre: float

    def stochastic(
        self, result: EMResult[PartialAlignment], schedule: Schedule, tol: float
    ) -> StochasticFit:
        """Coefficients, noise, standard errors and matches."""
        problem, solver, state = self.table.problem, self.table.solver, self.state
        freedom = max(round(float(self.found.holds.sum())) - solver.n_parameters, 1)
        design = Design(
            problem.n_rows,
            problem.n_groups + problem.n_known,
            solver.rank,
            solver.dependent,
            freedom,
            solver.fit_intercept,
        )
        coef = coefficient_covariance(solver, self.covariance.theta, problem.n_rows)
        uncertainty = Uncertainty(
            coef,
            standard_errors_of(coef),
            state.noise_scale * self.covariance.log_noise**0.5,
            NAN,
            self.covariance.fraction_kept,
            self.covariance.inflation,
        )
        return StochasticFit(
            coef=state.coef,
            intercept=state.intercept + self.centre,
            noise_scale=state.noise_scale,
            mismatch_rate=None,
            design=design,
            iterations=iterations_of(result),
            acceptance_rate=result.alignment.acceptance_rate,
            tol=tol,
            schedule=schedule,
            temper=1.0,
            ridge=0.0,
            matches=self.matches(),
            uncertainty=uncertainty,
            permutations=None,
            as_given=None,
            errors=Errors("model", uncertainty, freedom),
        )

    def matches(self) -> Matches:
        """The most likely partner of each row, and how probable it is."""
        problem, found = self.table.problem, self.found
        likely = likely_matching(problem, self.state)
        share = (found.label_of == likely).mean(axis=0)
        # The label of a row that has none is what the model predicts.
        expected = found.held + (1.0 - found.holds) * self.state.fitted + self.centre
        labels, proba = np.full(problem.n_given_rows, NAN), np.ones(problem.n_given_rows)
        perm = np.full(problem.n_given_rows, -1, dtype=np.int64)
        labels[problem.row_numbers], proba[problem.row_numbers] = expected, share
        perm[problem.row_numbers] = _numbered(problem, likely)
        return Matches(labels, perm, proba)

    def unmatched(self, *, estimated: bool) -> UnmatchedFit:
        """Rows without labels and labels without rows."""
        problem, found = self.table.problem, self.found
        rows, labels = np.ones(problem.n_given_rows), np.ones(problem.n_given_labels)
        rows[problem.row_numbers] = np.clip(1.0 - found.holds, 0.0, 1.0)
        labels[problem.label_numbers] = np.clip(1.0 - found.is_held, 0.0, 1.0)
        seen = np.full((len(found.label_of), problem.n_given_rows), -1, dtype=np.int64)
        seen[:, problem.row_numbers] = _numbered(problem, found.label_of)
        share = 1.0 - self.state.mismatch_rate
        return UnmatchedFit(
            n_rows=problem.n_given_rows,
            n_labels=problem.n_given_labels,
            rows_left_out=problem.n_given_rows - problem.n_rows,
            labels_left_out=problem.n_given_labels - problem.n_labels,
            n_pairs=float(found.holds.sum()),
            match_share=share,
            match_share_se=share * (1.0 - share) * self.covariance.logit_share**0.5,
            estimated=estimated,
            row_proba=rows,
            label_proba=labels,
            seen=seen,
            row_groups=_groups(problem.n_given_rows, problem.row_numbers, problem.row_starts),
            label_groups=_groups(
                problem.n_given_labels, problem.label_numbers, problem.label_starts
            ),
        )

    def search(self, landscape: PartialLandscape, finding: PartialFinding) -> SearchFit:
        """What the search found, in coefficients."""
        found, solver = finding.search, self.table.solver
        solutions = [solver.solve(landscape.Z @ theta).coef for theta in found.thetas]
        return SearchFit(
            solutions=np.array(solutions),
            objectives=found.objectives,
            certified=False,
            lower_bound=0.0,
            score=finding.score,
            null_scores=finding.nulls,
            p_value=finding.p_value,
            n_candidates=found.n_candidates,
            n_found=int(found.n_found[0]),
            stopped_by=found.stopped_by,
        )


def _numbered(problem: UnequalProblem, label_of: IntArray) -> IntArray:
    """The user's numbers of arranged labels; -1 stays."""
    numbers: IntArray = np.append(problem.label_numbers, -1)[label_of]
    return numbers


def _groups(size: int, numbers: IntArray, starts: IntArray) -> IntArray:
    groups = np.full(size, -1, dtype=np.int64)
    for g, (first, last) in enumerate(pairwise(starts)):
        groups[numbers[first:last]] = g
    return groups
