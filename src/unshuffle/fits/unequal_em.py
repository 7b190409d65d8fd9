"""EM over partial matchings with the settings of a fit, for a fit and for its replicates."""

from collections.abc import Callable
from dataclasses import dataclass

from ..alignment.partial import PartialAlignment, PartialChain
from ..alignment.state import State
from ..data.threads import Workers
from ..data.unequal import UnequalProblem
from ..em.loop import EMResult, Step, ignore, run_em
from ..em.partial import PartialTable
from ..em.settings import DEFAULTS, EMSettings
from ..em.squarem import SquaremAcceleration
from ..em.stopping import StopWhenStable
from ..search.settings import DEFAULT as SEARCHING
from ..search.settings import SearchSettings

MOST_SWEEPS = 100  # of an iteration: small tables need no more


@dataclass(frozen=True, eq=False)
class UnequalSettings:
    """Settings of `fit_unequal`; None leaves the choice to the fit.

    Attributes
    ----------
    seed : int
    match_share : (float, float)
        Bounds of the share of rows that have their label among those given.
    search : {"auto", "none", "population"}
    n_candidates : int or None
    fit_intercept : bool
    em : EMSettings
    searching : SearchSettings
    """

    seed: int
    match_share: tuple[float, float] = (0.0, 1.0)
    search: str = "auto"
    n_candidates: int | None = None
    fit_intercept: bool = True
    em: EMSettings = DEFAULTS
    searching: SearchSettings = SEARCHING

    @property
    def estimates_share(self) -> bool:
        """Whether the share of rows with a label is estimated."""
        return self.match_share[0] < self.match_share[1]


def sweeps_of_iteration(problem: UnequalProblem, settings: UnequalSettings) -> int:
    """Sweeps of the chain in one iteration that are averaged."""
    iteration = settings.em.iteration
    sweeps = iteration.fewest_steps // (3 * max(problem.n_open_rows, 1))
    return min(max(iteration.sweeps, sweeps), MOST_SWEEPS)


def chain_of_iteration(
    problem: UnequalProblem, workers: Workers, settings: UnequalSettings
) -> PartialChain:
    """The chain that one iteration runs."""
    n_sweeps = sweeps_of_iteration(problem, settings)
    burn_in = max(1, int(settings.em.iteration.burn_in * n_sweeps))
    return PartialChain(problem, settings.seed, workers, n_sweeps, burn_in)


def iterate(
    table: PartialTable,
    start: State,
    settings: UnequalSettings,
    report: Callable[[Step], None] = ignore,
) -> EMResult[PartialAlignment]:
    """EM from `start` until it stands still."""
    iteration = settings.em.iteration
    return run_em(
        table,
        start,
        max_iter=iteration.max_iter,
        stop=StopWhenStable(table, iteration.tolerance, iteration.window),
        report=report,
        accelerate=SquaremAcceleration(
            table,
            iteration.squarem_window,
            with_rate=settings.estimates_share,
            settings=settings.em.squarem,
        ),
    )
