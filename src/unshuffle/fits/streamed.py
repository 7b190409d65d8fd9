"""EM over parts: each iteration sends O(d) numbers to every part and gets O(d) back.

The E-step keeps nothing from one iteration to the next: what a part answers is a function of its
rows, the coefficients, the seed and the number of the iteration. Sums are exact, so the
answer does not depend on how the rows are cut into parts, in which order they come, or on which
machine each of them is.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..alignment.density import tabulate_density
from ..data import passes
from ..data.survey import Parts, Survey, add_up, exponents_above
from ..em.loop import SMALLEST_RELATIVE_NOISE, Drift, Settled, Step, alternate, never
from ..em.newton import Averaged, Newton
from ..em.sample import worth_a_sample
from ..families.least_squares import LeastSquares
from ..families.normal_equations import NormalEquations
from ..kernels.block_em import Model
from ..kernels.exact_sum import exponent_above
from ..kernels.types import FloatArray, IntArray
from ..search.robust import fit_mixture
from .checkpoint import Checkpoint, Snapshot
from .streamed_start import begin_on_blocks

# Rows from which a robust start and the density of the labels at large are found.
SAMPLE_ROWS = 50_000
# Bounds are computed with rounding; this is more than it can amount to.
SLACK = 1.001


@dataclass(frozen=True, eq=False)
class Settings:
    """How to fit.

    Attributes
    ----------
    fit_intercept : bool
    ridge, temper : float
    sweeps, burn_in : float
        Proposals per row that can move in one iteration, and how many of them are not averaged.
    max_iter : int
    tol : float
    window : int
        Iterations whose average is compared with that of as many before them.
    mismatch_rate : float or None
        Share of mismatched rows at the start; None where the order is lost.
    estimates : bool
        Whether that share follows the data.
    init : array of shape (d,) or None
        Coefficients to begin from.
    seed : int
    """

    fit_intercept: bool
    ridge: float
    temper: float
    sweeps: float
    burn_in: float
    max_iter: int
    tol: float
    window: int
    mismatch_rate: float | None
    estimates: bool
    init: FloatArray | None
    seed: int

    def words(self) -> str:
        """What must be the same for a run to go on; `max_iter` may change."""
        init = None if self.init is None else self.init.tolist()
        return repr((
            self.fit_intercept, self.ridge, self.temper, self.sweeps, self.burn_in, self.tol,
            self.window, self.mismatch_rate, self.estimates, init,
        ))  # fmt: skip


class Expected(NamedTuple):
    """What an E-step over all parts comes back with, at `state`."""

    state: Snapshot
    gradient: FloatArray
    residual_sum: float
    residual_ss: float
    label_ss: float
    mismatched_share: float
    acceptance_rate: float


@dataclass(frozen=True, eq=False)
class StreamedResult:
    """Where EM over parts ended, and how it came there.

    `added` are the shares that chance adds to the variances of coefficients and log noise.
    """

    state: Snapshot
    final: Expected
    steps: list[Step]
    converged: bool
    added: FloatArray


class StreamedEM:
    """Stochastic EM over parts.

    Parameters
    ----------
    parts : Parts
    facts : Survey
    solver : NormalEquations
    settings : Settings
    """

    def __init__(
        self, parts: Parts, facts: Survey, solver: NormalEquations, settings: Settings
    ) -> None:
        self.parts, self.facts, self.solver, self.settings = parts, facts, solver, settings
        self._density = (0.0, 1.0, 0.0, 0.0, np.ones(2))

    def run(self, report: Callable[[int, Step], None], checkpoint: Checkpoint) -> StreamedResult:
        """Begin, or go on from the checkpoint; iterate; average; look once more."""
        settings = self.settings
        (state, newton), before = self._begin(), list[Step]()
        found = checkpoint.load()
        if found is not None:
            state, before = found
        steps = list(before)

        def align(state: Snapshot, iteration: int) -> Expected:
            with checkpoint.guard(state, steps):
                return self.align(state, iteration)

        def tell(step: Step) -> None:
            steps.append(step)
            report(len(steps), step)

        settled: Settled = never
        if settings.tol:
            settled = Drift(self.facts, self.solver, settings.tol, settings.window)
        added, leap = np.zeros(2), None
        if newton is not None:
            settled, leap = Averaged(newton, settings.tol, settled), self._leap(newton)
        state, _, steps_made, converged = alternate(
            state,
            align,
            self.solve,
            max_iter=settings.max_iter,
            settled=settled,
            report=tell,
            before=before,
            leap=leap,
        )
        averaged = self._average(state, steps_made)
        if converged and isinstance(settled, Averaged):
            added = settled.added(steps_made)
        final = self.align(averaged, len(steps_made))
        return StreamedResult(averaged, final, steps_made, converged, added)

    def align(self, state: Snapshot, iteration: int, sweeps: float | None = None) -> Expected:
        """E-step: ask every part at `state`."""
        facts, settings, d = self.facts, self.settings, len(state.coef)
        model = self.model(state, settings.sweeps if sweeps is None else sweeps)
        exponents = self._exponents(state)
        answers = self.parts.map(
            passes.align,
            model,
            settings.seed,
            iteration,
            exponents,
            name=f"iteration-{iteration + 1}",
        )
        values, _ = add_up(answers, exponents)
        proposed = sum(each.proposed for each in answers)
        accepted = sum(each.accepted for each in answers)
        at_home = values[d + 3] / facts.n_movable if facts.n_movable else 1.0
        return Expected(
            state,
            values[:d],
            float(values[d]),
            float(values[d + 1]),
            float(values[d + 2]),
            1.0 - float(at_home),
            accepted / proposed if proposed else float("nan"),
        )

    def solve(self, expected: Expected) -> Snapshot:
        """M-step: coefficients and noise from the sums of an E-step."""
        facts, solver, state = self.facts, self.solver, expected.state
        coef = solver.improve(state.coef, expected.gradient)
        mean = expected.residual_sum / facts.n_rows if solver.fit_intercept else 0.0
        residual_ss = expected.residual_ss - facts.n_rows * mean**2
        loss = solver.loss(residual_ss, expected.gradient, coef - state.coef)
        spread = max(facts.label_ss - expected.label_ss, 0.0)
        rate = expected.mismatched_share if self.settings.estimates else state.mismatch_rate
        return self._state(coef, state.shift + mean, loss + spread, rate)

    def model(self, state: Snapshot, sweeps: float) -> Model:
        """What every part is told."""
        burn_in = self.settings.burn_in if sweeps else 0.0
        return Model(
            state.coef, self.facts.centre, state.shift, self.facts.label_centre,
            state.noise_scale * self.settings.temper, state.mismatch_rate, sweeps, burn_in,
            *self._density,
        )  # fmt: skip

    def _begin(self) -> tuple[Snapshot, Newton | None]:
        """Where to start, as `StochasticEMRegressor` does, and Newton's method from there."""
        facts, settings = self.facts, self.settings
        centre = facts.label_centre if settings.fit_intercept else 0.0
        if settings.mismatch_rate is not None:
            return self._begin_mostly_right(settings.mismatch_rate, centre), None
        if settings.init is None:
            return self._begin_lost()
        start = self._state(settings.init, centre, facts.label_ss, -1.0)
        # Given coefficients mean what they say: begin with the noise by which labels vary more than
        # fitted values, and no less than that of the best match.
        matched = self.align(start, 0, sweeps=0.0)
        excess = self._label_ss - self.solver.length(settings.init) ** 2
        noise = max(matched.residual_ss, excess)
        return self._state(settings.init, centre, noise, -1.0), None

    def _begin_lost(self) -> tuple[Snapshot, Newton | None]:
        """Least squares on the labels as given; where there are many groups, a sample of them."""
        facts, settings = self.facts, self.settings
        start = self.ordinary_start(self.solver)
        follows_model = settings.temper == 1.0 and settings.ridge == 0.0
        if not (settings.tol and follows_model and worth_a_sample(facts.n_movable, facts.n_blocks)):
            return start, None
        found = begin_on_blocks(
            self.parts, facts, fit_intercept=settings.fit_intercept, seed=settings.seed
        )
        start = start._replace(
            coef=found.coef,
            intercept=start.shift - float(facts.centre @ found.coef),
            noise_scale=found.noise_scale,
        )
        # Chains start afresh near the posterior, so that nothing lags behind.
        return start, Newton(start, found.gain, 1.0, facts, self.solver)

    def _leap(self, newton: Newton) -> Callable[[list[Step], Snapshot, Snapshot], Snapshot]:
        """Go on from where Newton's method leads."""

        def leap(steps: list[Step], before: Snapshot, after: Snapshot) -> Snapshot:
            here = newton.follow(steps).here
            coef, noise = here[:-1], math.exp(float(here[-1]))
            intercept = after.shift - float(self.facts.centre @ coef)
            return after._replace(coef=coef, intercept=intercept, noise_scale=noise)

        return leap

    def ordinary_start(self, solver: NormalEquations) -> Snapshot:
        """Least squares on the labels as given."""
        facts, fit_intercept = self.facts, self.settings.fit_intercept
        coef = solver.improve(np.zeros(len(facts.centre)), facts.moments)
        loss = solver.loss(self._label_ss, facts.moments, coef)
        return self._state(coef, facts.label_centre if fit_intercept else 0.0, loss, -1.0)

    @property
    def _label_ss(self) -> float:
        """Sum of squares of the labels, around their mean where there is an intercept."""
        facts = self.facts
        away = 0.0 if self.settings.fit_intercept else facts.label_centre
        return facts.label_ss + facts.n_rows * away**2

    def _begin_mostly_right(self, rate: float, centre: float) -> Snapshot:
        facts, settings = self.facts, self.settings
        share = min(1.0, SAMPLE_ROWS / facts.n_rows)
        pieces = self.parts.map(passes.sample, share, name="sample")
        order = np.argsort(np.concatenate([piece.numbers for piece in pieces]))
        X = np.concatenate([piece.X for piece in pieces])[order]
        y = np.concatenate([piece.y for piece in pieces])[order]
        pinned = np.concatenate([piece.pinned for piece in pieces])[order]
        density = tabulate_density(y)
        heights = np.maximum(density.heights, density.floor)
        step = float(density.grid[1] - density.grid[0])
        self._density = (float(density.grid[0]), step, density.low, density.high, heights)
        mixture = fit_mixture(
            LeastSquares(X, fit_intercept=settings.fit_intercept),
            y,
            mismatch_rate=None if settings.estimates else rate,
            known=pinned,
        )
        coef, shift = mixture.coef, mixture.intercept + float(facts.centre @ mixture.coef)
        if settings.init is not None:
            coef, shift = settings.init, centre
        rate = mixture.mismatch_rate if settings.estimates else rate
        start = self._state(coef, shift, 0.0, rate)
        return start._replace(noise_scale=max(mixture.noise_scale, start.noise_scale))

    def _state(self, coef: FloatArray, shift: float, objective: float, rate: float) -> Snapshot:
        facts = self.facts
        floor = SMALLEST_RELATIVE_NOISE * math.sqrt(facts.label_ss / facts.n_rows)
        noise = math.sqrt(objective / (facts.n_rows - self.solver.n_parameters))
        intercept = shift - float(facts.centre @ coef)
        return Snapshot(coef, shift, intercept, max(noise, floor), objective, rate)

    def _average(self, state: Snapshot, steps: list[Step]) -> Snapshot:
        """The average of the last iterations, which chance moves less than a single one."""
        tail = steps[-min(2 * self.settings.window, (len(steps) + 1) // 2) :]
        coef = np.mean([step.coef for step in tail], axis=0)
        intercept = float(np.mean([step.intercept for step in tail]))
        return Snapshot(
            coef,
            intercept + float(self.facts.centre @ coef),
            intercept,
            float(np.mean([step.noise_scale for step in tail])),
            float(np.mean([step.objective for step in tail])),
            state.mismatch_rate,
        )

    def largest_residual(self, state: Snapshot) -> float:
        """A bound on every label less every fitted value at `state`."""
        facts = self.facts
        fitted = abs(state.shift - facts.label_centre)
        fitted += float(np.abs(state.coef) @ facts.reach[:-1])
        return SLACK * (float(facts.reach[-1]) + fitted)

    def _exponents(self, state: Snapshot) -> IntArray:
        """Powers of two above every term of an E-step at `state`."""
        residual = exponent_above(self.largest_residual(state))
        columns = exponents_above(self.facts.reach[:-1]) + residual
        label = exponent_above(SLACK * float(self.facts.reach[-1]))
        rest = [residual, 2 * residual, 2 * label, 1]
        return np.append(columns, np.array(rest, dtype=np.int64))
