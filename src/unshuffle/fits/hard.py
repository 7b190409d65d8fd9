"""Hard EM: the single most likely permutation, by sorting, from many starts."""

from ..alignment.hard import HardAlignment
from ..em.loop import run_em
from ..em.memory import MemoryTable
from ..em.stopping import stop_without_gain
from ..families.least_squares import LeastSquares
from ..search.restarts import hard_em_restarts
from .data import InMemory
from .progress import Progress, Reporting, quiet
from .results import HardFit, design_of, iterations_of
from .settings import HardSettings
from .stochastic import matches_of


def fit_hard(data: InMemory, settings: HardSettings, *, reporting: Reporting = quiet) -> HardFit:
    """Fit by Hard EM from the labels as given, from `init` and from random shuffles.

    Parameters
    ----------
    data : InMemory
    settings : HardSettings
    reporting : callable
        Opens a report of the starts.

    Returns
    -------
    fit : HardFit
        From the start with the lowest matched sum of squares.
    """
    problem = data.problem
    solver = LeastSquares(problem.X, fit_intercept=settings.fit_intercept)
    table = MemoryTable(problem, solver, HardAlignment(problem))
    given = [table.ordinary_start()]
    if settings.init is not None:
        given.append(table.start_at(settings.init))
    n_init = problem.n_rows if settings.n_init is None else settings.n_init
    n_init = max(n_init, len(given))
    with reporting(n_init, "starts") as report:
        restarts = hard_em_restarts(
            problem,
            solver,
            given,
            n_shuffles=n_init - len(given),
            max_iter=settings.max_iter,
            seed=settings.seed,
            workers=data.workers,
            report=lambda done, objective: report(Progress(done, n_init, objective)),
        )
    result = run_em(table, restarts.best, max_iter=settings.max_iter, stop=stop_without_gain)
    state, alignment = result.state, result.alignment
    return HardFit(
        coef=state.coef,
        intercept=state.intercept,
        noise_scale=state.noise_scale,
        design=design_of(problem.n_rows, problem.n_groups, solver),
        iterations=iterations_of(result),
        matches=matches_of(problem, alignment.expected, alignment.perm, None),
        n_init=n_init,
        restart_objectives=restarts.objectives,
    )
