"""Stochastic EM on one table, as every way of the default fit uses it."""

from ..alignment.chain import Chain
from ..alignment.sampled import SampledAlignment
from ..alignment.state import State
from ..em.memory import MemoryTable
from ..families.least_squares import LeastSquares
from ..inference.sensitivity import relative_shift, shrinkage_share, tempered_coef
from ..kernels.streams import FIRST_INFLATED
from ..kernels.swap import Schedule
from ..kernels.types import FloatArray
from .auto_results import Outcome
from .clued import fit_clued
from .data import InMemory
from .progress import Reporting
from .results import StochasticFit
from .routes import ROUTES
from .settings import AutoSettings, StochasticSettings
from .stochastic import fit_stochastic


class TableFits:
    """One table with its settings, and fits to it by stochastic EM.

    Parameters
    ----------
    data : InMemory
    settings : AutoSettings
    reporting : callable
    """

    def __init__(self, data: InMemory, settings: AutoSettings, reporting: Reporting) -> None:
        self.data, self.settings, self.reporting = data, settings, reporting
        self.solver = LeastSquares(data.problem.X, fit_intercept=settings.fit_intercept)

    def stochastic(
        self,
        temper: float,
        ridge: float,
        *,
        init: FloatArray | None = None,
        mismatch_rate: float | str | None = None,
    ) -> StochasticFit:
        """Stochastic EM; `temper` and `ridge` hold where the settings leave them open."""
        given = self.settings
        settings = StochasticSettings(
            given.seed,
            max_iter=given.em.iteration.max_iter,
            init=init,
            mismatch_rate=mismatch_rate,
            alignment=given.alignment,
            temper=temper if given.temper is None else given.temper,
            ridge=ridge if given.ridge is None else given.ridge,
            fit_intercept=given.fit_intercept,
            covariance=given.covariance,
            em=given.em,
        )
        fit = fit_stochastic if self.data.clues is None else fit_clued
        return fit(self.data, settings, reporting=self.reporting, solver=self.solver)

    def with_sensitivity(self, outcome: Outcome) -> Outcome:
        """Add how the answer depends on the noise, and what shrinkage alone would have given."""
        fit = outcome.fit
        as_given = MemoryTable(self.data.problem, self.solver).ordinary_start().fitted
        return outcome._replace(
            temper_shift=relative_shift(self.solver, fit.coef, self.tempered(fit)),
            shrinkage_share=shrinkage_share(state_of(fit).fitted, as_given),
        )

    def tempered(self, fit: StochasticFit) -> FloatArray:
        """Coefficients of a fit if its labels are aligned at inflated noise."""
        problem, posterior = self.data.problem, fit.permutations
        assert posterior is not None
        n = problem.n_movable
        steps = max(ROUTES.fewest_sweeps * n, min(ROUTES.most_sweeps * n, ROUTES.enough_steps))
        chain = Chain(problem, Schedule(steps, 0, 1), self.settings.seed, self.data.workers)
        align = SampledAlignment(chain, posterior.prior)
        return tempered_coef(problem, self.solver, state_of(fit), align, FIRST_INFLATED)


def inflation_of(fit: StochasticFit) -> float:
    """Standard errors as a multiple of those with the order known."""
    assert fit.uncertainty is not None
    return fit.uncertainty.inflation


def state_of(fit: StochasticFit) -> State:
    """Where EM ended, with its vectors over (arranged) rows."""
    assert fit.permutations is not None
    return fit.permutations.state
