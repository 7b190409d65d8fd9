"""Draws from the posterior over coefficients, noise, permutation and rate of mismatches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Protocol

import numpy as np

from ..alignment.hard import most_likely_permutation
from ..data.threads import Workers
from ..io.html import html_table
from ..kernels.streams import POSTERIOR_STARTS
from ..kernels.types import FloatArray, IntArray
from .diagnostics import ess_bulk, ess_tail, r_hat
from .intervals import check_level
from .posterior_chain import PosteriorChain
from .posterior_model import Model, Start
from .sampling_settings import POSTERIOR, PosteriorSettings

NOISE, DISPERSION, RATE = "noise", "dispersion", "mismatch rate"
HEADS = ("mean", "sd", "low", "high", "R-hat", "ESS bulk", "ESS tail")


@dataclass(frozen=True, eq=False)
class Posterior:
    """Draws from a posterior, with diagnostics of whether the chains have mixed.

    Print it for a table of means, standard deviations, intervals, R-hat and effective sample sizes.

    Attributes
    ----------
    coef : array of shape (n_chains, n_draws, n_features)
    intercept, noise_scale : arrays of shape (n_chains, n_draws)
        The intercept is zero throughout where none was fitted. Other families than the normal one
        have no noise, and `noise_scale` is None.
    mismatch_rate : array of shape (n_chains, n_draws) or None
        Rate of mismatches; None where it was not estimated.
    match_proba : array of shape (n_samples,) or None
        Probability that the label given beside a row is its own, averaged over coefficients and
        noise; None where no label was given beside a row.
    names : list of str
        Of the intercept (when there is one), the coefficients, the noise or dispersion (when there
        is one) and, where it was estimated, the rate of mismatches: the keys of the three
        dictionaries below.
    r_hat : dict
        Rank-normalised split R-hat of each quantity; 1 where the chains agree.
    ess_bulk, ess_tail : dict
        Effective sample sizes for the middle and for the tails of each quantity.
    feature_names : list of str
    has_intercept : bool
    dispersion : array of shape (n_chains, n_draws) or None
        Of families that have one.

    Examples
    --------
    >>> from unshuffle import StochasticEMRegressor
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> data = make_shuffled_regression(
    ...     200, 2, noise=0.1, shuffle="groups", n_groups=40, random_state=0
    ... )
    >>> model = StochasticEMRegressor(random_state=0).fit(data.X, data.y, groups=data.groups)
    >>> posterior = model.posterior(n_draws=500, random_state=0)
    >>> posterior.coef.shape
    (4, 500, 2)
    >>> low, high = posterior.interval()[1:].T
    >>> bool(((low < data.coef) & (data.coef < high)).all())
    True
    """

    coef: FloatArray
    intercept: FloatArray
    noise_scale: FloatArray | None
    mismatch_rate: FloatArray | None
    match_proba: FloatArray | None
    names: list[str]
    r_hat: dict[str, float]
    ess_bulk: dict[str, float]
    ess_tail: dict[str, float]
    feature_names: list[str]
    has_intercept: bool
    dispersion: FloatArray | None = None

    def interval(self, level: float = 0.95) -> FloatArray:
        """Equal-tailed intervals of the coefficients.

        Parameters
        ----------
        level : float, default=0.95
            Posterior probability of each interval.

        Returns
        -------
        interval : array of shape (n_coefficients, 2)
            Lower and upper ends, the intercept first when there is one.
        """
        check_level(level)
        draws = self.coef
        if self.has_intercept:
            draws = np.concatenate([self.intercept[..., None], draws], axis=-1)
        return _ends(draws.reshape(-1, draws.shape[-1]), level)

    def to_arviz(self) -> Any:
        """Hand the draws to ArviZ.

        Returns
        -------
        data : arviz.InferenceData (ArviZ 0.x) or xarray.DataTree (ArviZ 1.x)
            With the variables ``coef``, ``intercept``, ``noise_scale``, ``dispersion`` and
            ``mismatch_rate``, as far as there are any.
        """
        try:
            import arviz
        except ImportError as error:
            raise ImportError(
                'to_arviz needs ArviZ; install it with: pip install "unshuffle[posterior]"'
            ) from error
        variables = {"coef": self.coef}
        if self.has_intercept:
            variables["intercept"] = self.intercept
        for name in ("noise_scale", "dispersion", "mismatch_rate"):
            if getattr(self, name) is not None:
                variables[name] = getattr(self, name)
        coords, dims = {"feature": self.feature_names}, {"coef": ["feature"]}
        # ArviZ 1.x takes groups as one dictionary, 0.x as keywords.
        if int(arviz.__version__.split(".")[0]) >= 1:
            return arviz.from_dict({"posterior": variables}, coords=coords, dims=dims)
        return arviz.from_dict(posterior=variables, coords=coords, dims=dims)

    def __str__(self) -> str:
        heads, rows = self._cells()
        widths = [max(len(line[k]) for line in [heads, *rows]) for k in range(len(heads))]
        lines = [self._title()]
        for cells in [heads, *rows]:
            first = cells[0].ljust(widths[0])
            rest = (cell.rjust(w) for cell, w in zip(cells[1:], widths[1:], strict=True))
            lines.append("  ".join([first, *rest]))
        rule = "-" * len(lines[1])
        return "\n".join([lines[0], rule, lines[1], rule, *lines[2:], rule])

    def _repr_html_(self) -> str:
        return f"<p>{escape(self._title())}</p>{html_table(*self._cells())}"

    def _title(self) -> str:
        n_chains, n_draws = self.intercept.shape
        return f"Posterior of {n_chains} chains of {n_draws} draws, 95 % equal-tailed intervals"

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        rows = []
        for name, draws in self.quantities().items():
            low, high = _ends(draws.reshape(-1, 1), 0.95)[0]
            numbers = [f"{value:.4g}" for value in (draws.mean(), draws.std(), low, high)]
            sizes = [f"{size[name]:.0f}" for size in (self.ess_bulk, self.ess_tail)]
            rows.append([name, *numbers, f"{self.r_hat[name]:.3f}", *sizes])
        return ["", *HEADS], rows

    def quantities(self) -> dict[str, FloatArray]:
        """Draws by name, each of shape (n_chains, n_draws)."""
        columns = [self.intercept] if self.has_intercept else []
        columns += [self.coef[..., j] for j in range(self.coef.shape[-1])]
        more = (self.noise_scale, self.dispersion, self.mismatch_rate)
        columns += [draws for draws in more if draws is not None]
        return dict(zip(self.names, columns, strict=True))


def _ends(draws: FloatArray, level: float) -> FloatArray:
    ends: FloatArray = np.quantile(draws, [0.5 - 0.5 * level, 0.5 + 0.5 * level], axis=0).T
    return ends


def dispersed_starts(
    model: Model,
    centres: FloatArray,
    noise_scale: float,
    perm: IntArray,
    rate: float,
    *,
    n_chains: int,
    spread: float,
    seed: int,
    settings: PosteriorSettings = POSTERIOR,
) -> list[Start]:
    """Starts scattered around `centres` (coordinates, shape (k, rank)), which take turns.

    Coordinates are jittered by `spread` standard errors of a fit with known order, the noise and
    the odds of a mismatch by factors around one. Where the order is lost, a chain starts from the
    most likely permutation of its coefficients, otherwise from `perm`.
    """
    rng = np.random.default_rng([seed, n_chains, POSTERIOR_STARTS])
    lost = not model.prior.mostly_right and model.prior.places is None
    problem, starts = model.problem, []
    for number in range(n_chains):
        centre = centres[number % len(centres)]
        theta = centre + spread * noise_scale * rng.standard_normal(model.rank)
        noise = noise_scale * float(np.exp(rng.normal(0.0, settings.spread_of_starts)))
        odds = rate / (1.0 - rate) * float(np.exp(rng.normal(0.0, settings.spread_of_starts)))
        own = most_likely_permutation(problem, model.basis @ theta) if lost else perm
        starts.append(Start(theta, noise, own, odds / (1.0 + odds)))
    return starts


class Advancing(Protocol):
    """A chain that is advanced piece by piece."""

    n_iterations: int

    def advance(self, n_iterations: int) -> None:
        """Make up to `n_iterations` more iterations."""
        ...


def run_chains(
    chains: Sequence[Advancing],
    workers: Workers,
    report: Callable[[int], None],
    settings: PosteriorSettings = POSTERIOR,
) -> None:
    """Run all chains to their end, side by side, in rounds; `report` gets iterations done."""
    n_iterations = chains[0].n_iterations
    size = max(1, -(-n_iterations // settings.rounds))
    for done in range(0, n_iterations, size):
        workers.map(lambda chain: chain.advance(size), chains)
        report(min(done + size, n_iterations))


def collect(
    model: Model, chains: list[PosteriorChain], feature_names: list[str], with_matches: bool
) -> Posterior:
    """Put the draws of all chains together and ask whether they have mixed."""
    coef = np.stack([model.coef(chain.record.theta) for chain in chains])
    centre = np.stack([chain.record.centre for chain in chains])
    intercept = centre - coef @ model.centre if model.fit_intercept else np.zeros_like(centre)
    rate = np.stack([chain.record.rate for chain in chains]) if model.samples_rate else None
    n_kept = sum(chain.n_iterations - chain.n_warmup for chain in chains)
    matched = np.sum([chain.match_sum for chain in chains], axis=0) / n_kept
    names = ["(intercept)"] if model.fit_intercept else []
    names += [*feature_names, NOISE]
    if rate is not None:
        names.append(RATE)
    posterior = Posterior(
        coef,
        intercept,
        np.stack([chain.record.noise_scale for chain in chains]),
        rate,
        model.problem.restore(matched) if with_matches else None,
        names,
        {},
        {},
        {},
        feature_names,
        model.fit_intercept,
    )
    return diagnose(posterior)


def diagnose(posterior: Posterior) -> Posterior:
    """Fill in whether the chains have mixed."""
    for name, draws in posterior.quantities().items():
        posterior.r_hat[name] = r_hat(draws)
        posterior.ess_bulk[name] = ess_bulk(draws)
        posterior.ess_tail[name] = ess_tail(draws)
    return posterior
