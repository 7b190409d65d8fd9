r"""One chain over coefficients, noise, permutation and rate of mismatches.

An iteration makes these moves, each of which leaves the posterior as it is:

1. **Collapsed swaps** of labels with coefficients and noise integrated out, then fresh coefficients
   and noise given the permutation: together one move of all three.
2. **Carried labels**: a random step of the coefficients, :math:`\theta' = \theta + \eta`, that
   takes the labels along. The label of the row with the k-th smallest fitted value of its group
   goes to the row that has the k-th smallest fitted value at :math:`\theta'`. Going back by
   :math:`-\eta` restores the permutation, so that this is a one-to-one map that keeps volumes, and
   the acceptance is the ratio of posteriors, here with the noise integrated out. Where the order
   is mostly right only mismatched rows take part, and a step that returns one of them to its own
   label is refused, because the way back would leave it there. Half of the steps are Gaussian, half
   the difference of two known optima, which leads from one mode to another; where no optima are
   known this move is left out, since it then costs more than it gains.
3. **Swaps** of labels at given coefficients, by the chain of the fit.
4. **Conjugate draws** of coefficients, intercept, noise and rate given the permutation.
"""

import numpy as np

from ..alignment.chain import Chain
from ..alignment.sampled import SampledAlignment
from ..alignment.state import State
from ..data.threads import Workers
from ..families.normal import SMALLEST_RELATIVE_NOISE
from ..kernels.collapsed import Integrated, advance_collapsed
from ..kernels.match import rank_inside
from ..kernels.swap import Schedule, Stream
from ..kernels.types import FloatArray, IntArray
from .posterior_model import Model, Record, Start
from .sampling_settings import POSTERIOR, PosteriorSettings

ALL_MOVES = frozenset({"collapsed", "carry", "swap"})


class PosteriorChain:
    """A chain, advanced piece by piece; its stream depends on (seed, number) alone.

    Parameters
    ----------
    model : Model
    start : Start
    seed, number : int
        Of the run, and of the chain in it.
    n_warmup, n_draws, thin : int
        Iterations that adapt and are forgotten, draws that are kept, iterations between two.
    jumps : array of shape (n_optima, rank)
        Optima whose differences are proposed as steps.
    moves : set of {"collapsed", "carry", "swap"}
    settings : PosteriorSettings
    """

    def __init__(
        self,
        model: Model,
        start: Start,
        seed: int,
        number: int,
        *,
        n_warmup: int,
        n_draws: int,
        thin: int = 1,
        jumps: FloatArray | None = None,
        moves: frozenset[str] = ALL_MOVES,
        settings: PosteriorSettings = POSTERIOR,
    ) -> None:
        source = np.random.SeedSequence((seed, number))
        swap_seed, collapsed_seed = source.generate_state(2, np.uint64) >> np.uint64(1)
        self.model, self.problem, self.moves = model, model.problem, moves
        self.rng = np.random.default_rng(source)
        self.collapsed_seed = np.uint64(collapsed_seed)
        n = self.problem.n_movable
        self.settings = settings
        for_small = min(settings.sweeps_of_small * n, settings.proposals_of_small)
        self.n_proposals = max(settings.sweeps * n, for_small, 1)
        chain = Chain(self.problem, Schedule(self.n_proposals, 0, 1), int(swap_seed), Workers(1))
        self.align = SampledAlignment(chain, model.prior)
        self.n_warmup, self.thin = n_warmup, thin
        self.n_iterations = n_warmup + n_draws * thin
        self.jumps = np.empty((0, model.rank)) if jumps is None else jumps
        self.theta, self.perm = start.theta.copy(), start.perm.copy()
        self._floor = SMALLEST_RELATIVE_NOISE * model.parameters.noise_scale
        self.noise, self.rate = max(start.noise_scale, self._floor), start.rate
        self.mean = float(self.problem.y.mean()) if model.fit_intercept else 0.0
        self.half_t = self._draw_half_t()
        self.iteration = 0
        self.match_sum = np.zeros(self.problem.n_rows)
        self.step_scale = settings.first_length / max(model.rank, 1) ** 0.5
        self.step_shape = np.eye(model.rank) * self.noise
        self._seen: list[FloatArray] = []
        self._members, self._limits = self._neighbours()
        self.record = Record(
            np.empty((n_draws, model.rank)),
            np.empty(n_draws),
            np.empty(n_draws),
            np.full(n_draws, np.nan),
        )

    def advance(self, n_iterations: int) -> None:
        """Make up to `n_iterations` more iterations."""
        for _ in range(min(n_iterations, self.n_iterations - self.iteration)):
            self._iterate()
            self.iteration += 1
            if self.iteration <= self.n_warmup:
                self._adapt()
            elif (self.iteration - self.n_warmup) % self.thin == 0:
                self._keep((self.iteration - self.n_warmup) // self.thin - 1)

    def _iterate(self) -> None:
        movable = self.problem.n_movable > 0
        if len(self._members) and "collapsed" in self.moves:
            self._collapsed_swaps()
        if movable and "carry" in self.moves and len(self.jumps) > 1:
            for _ in range(self.settings.carried_steps):
                self._carry()
            self._draw_noise()
        matched = None
        if movable and "swap" in self.moves:
            alignment = self.align(self._state(), self.iteration)
            self.perm, matched = alignment.perm, alignment.match_proba
        if self.iteration >= self.n_warmup:
            own = self.perm == np.arange(len(self.perm)) if matched is None else matched
            self.match_sum += own
        self._draw_coordinates()
        self._draw_mean()
        self._draw_noise()
        if self.model.rates is not None:
            n = self.problem.n_movable
            away = int(np.sum(self.perm[:n] != np.arange(n)))
            self.rate = self.model.rates.draw(self.rate, away, self.rng)

    def _state(self) -> State:
        fitted = self._fitted(self.theta)
        y = self.problem.y
        return State(self.theta, self.mean, self.noise, 0.0, self.rate, fitted, y, self.perm)

    def _fitted(self, theta: FloatArray) -> FloatArray:
        fitted: FloatArray = self.model.basis @ theta + self.mean
        return fitted

    def _draw_coordinates(self) -> None:
        """θ | permutation, noise: Gaussian."""
        variance, wide = self.noise**2, self.model.parameters.coef_scale**2
        shrink = wide / (wide + variance)
        here = self.problem.y[self.perm] @ self.model.basis
        self.theta = shrink * here + (shrink * variance) ** 0.5 * self.rng.standard_normal(
            len(here)
        )

    def _draw_mean(self) -> None:
        """Fitted value of the mean row | noise: Gaussian, and the same for every permutation."""
        if not self.model.fit_intercept:
            return
        prior, n = self.model.parameters, self.problem.n_rows
        precision = n / self.noise**2 + prior.intercept_scale**-2.0
        pull = n * self.problem.y.mean() / self.noise**2
        pull += prior.intercept_mean * prior.intercept_scale**-2.0
        self.mean = float(pull / precision + self.rng.standard_normal() / precision**0.5)

    def _draw_noise(self) -> None:
        """Noise | the rest: inverse gamma, then what makes its prior a half-t."""
        prior = self.model.parameters
        residual = self.problem.y[self.perm] - self._fitted(self.theta)
        shape = 0.5 * (prior.noise_freedom + self.problem.n_rows)
        scale = prior.noise_freedom / self.half_t + 0.5 * float(residual @ residual)
        self.noise = max((scale / self.rng.gamma(shape)) ** 0.5, self._floor)
        self.half_t = self._draw_half_t()

    def _draw_half_t(self) -> float:
        prior = self.model.parameters
        scale = prior.noise_freedom / self.noise**2 + prior.noise_scale**-2.0
        return float(scale / self.rng.gamma(0.5 * (prior.noise_freedom + 1.0)))

    def _collapsed_swaps(self) -> None:
        """Swaps with coefficients and noise integrated out, then fresh ones of both.

        Integrating is exact for a flat prior on the coordinates. All together is one proposal,
        which the flat posterior would always accept; what is left of the ratio is the prior.
        """
        problem, model, prior = self.problem, self.model, self.model.parameters
        shape = 0.5 * (prior.noise_freedom + problem.n_rows - model.rank)
        residual = problem.y - self.mean
        scale = prior.noise_freedom / self.half_t + 0.5 * float(residual @ residual)
        perm, theta = self.perm.copy(), problem.y[self.perm] @ model.basis
        advance_collapsed(
            Integrated(model.basis, problem.y, shape, scale), perm, theta, self._members,
            self._limits, model.prior.by_row(problem, self.rate), self.n_proposals,
            Stream(self.collapsed_seed, self.iteration),
        )  # fmt: skip
        theta = problem.y[perm] @ model.basis
        left = max(scale - 0.5 * float(theta @ theta), prior.noise_freedom / self.half_t)
        noise = max((left / self.rng.gamma(shape)) ** 0.5, self._floor)
        theta = theta + noise * self.rng.standard_normal(model.rank)
        gain = 0.5 * float(self.theta @ self.theta - theta @ theta) / prior.coef_scale**2
        if np.log(self.rng.random()) < gain:
            self.perm, self.theta, self.noise = perm, theta, noise
            self.half_t = self._draw_half_t()

    def _carry(self) -> None:
        """Step in the coefficients and take the labels along; the noise is integrated out."""
        jumps = self.rng.random() < self.settings.jump_share
        if jumps:
            a, b = self.rng.choice(len(self.jumps), size=2, replace=False)
            step = self.jumps[a] - self.jumps[b]
        else:
            step = self.step_scale * (self.step_shape @ self.rng.standard_normal(self.model.rank))
        theta = self.theta + step
        perm = self._carried(self._fitted(self.theta), self._fitted(theta))
        accepted = 0.0  # with this probability
        if perm is not None:
            gain = self._log_density(theta, perm) - self._log_density(self.theta, self.perm)
            accepted = float(np.exp(min(gain, 0.0)))
            if self.rng.random() < accepted:
                self.theta, self.perm = theta, perm
        if self.iteration < self.n_warmup and not jumps:
            rate = (1.0 + self.iteration) ** -self.settings.fading
            self.step_scale *= float(np.exp(rate * (accepted - self.settings.good_acceptance)))

    def _carried(self, before: FloatArray, after: FloatArray) -> IntArray | None:
        """Labels carried from the order of `before` to that of `after`; None where impossible."""
        problem, n = self.problem, self.problem.n_movable
        first, then = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        rank_inside(before, problem.starts, first)
        rank_inside(after, problem.starts, then)
        if self.model.prior.mostly_right:
            away = self.perm[:n] != np.arange(n)
            first, then = first[away[first]], then[away[then]]
        perm = self.perm.copy()
        perm[then] = self.perm[first]
        if self.model.prior.mostly_right and np.any(perm[then] == then):
            return None
        places = self.model.prior.places
        if places is not None and np.any(
            np.abs(places[perm[then]] - places[then]) > self.model.prior.reach
        ):
            return None
        return perm

    def _log_density(self, theta: FloatArray, perm: IntArray) -> float:
        """Of coefficients and permutation, with the noise integrated out."""
        prior = self.model.parameters
        residual = self.problem.y[perm] - self._fitted(theta)
        scale = prior.noise_freedom / self.half_t + 0.5 * float(residual @ residual)
        shape = 0.5 * (prior.noise_freedom + self.problem.n_rows)
        return float(-shape * np.log(scale) - 0.5 * (theta @ theta) / prior.coef_scale**2)

    def _neighbours(self) -> tuple[IntArray, IntArray]:
        """Rows for the collapsed swaps and the limits of their blocks; fixed after the warm-up.

        Where the order is mostly right these are the suspects: swaps of others are all but lost.
        """
        lists = self.align.lists(self._state())
        members, starts = lists.rows, self.problem.starts
        if self.model.prior.mostly_right:
            members, starts = lists.suspects, lists.suspect_starts
        sizes = np.diff(starts)
        return members, np.stack([np.repeat(starts[:-1], sizes), np.repeat(starts[1:], sizes)])

    def _adapt(self) -> None:
        """Learn the shape of steps and the neighbours, during the warm-up only."""
        if self.iteration > self.n_warmup // 4:
            self._seen.append(self.theta)
        # The last quarter is left for the length of steps to follow.
        if self.iteration not in {self.n_warmup // 2, 3 * self.n_warmup // 4}:
            return
        self._members, self._limits = self._neighbours()
        if len(self._seen) > self.settings.draws_per_direction * self.model.rank:
            covariance = np.atleast_2d(np.cov(np.array(self._seen), rowvar=False))
            covariance += self.settings.added_variance * self.noise**2 * np.eye(self.model.rank)
            self.step_shape = np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)

    def _keep(self, k: int) -> None:
        self.record.theta[k] = self.theta
        self.record.centre[k] = self.mean
        self.record.noise_scale[k] = self.noise
        self.record.rate[k] = self.rate
