"""Maximum of a log-likelihood with a gradient: climbs from several starts, then Newton's steps."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from ...kernels.types import BoolArray, FloatArray
from .settings import CLIMB, ClimbSettings
from .tied_model import Evaluation


class Likelihood(Protocol):
    """What is maximised."""

    n_parameters: int
    estimates: bool

    def evaluate(self, parameters: FloatArray) -> Evaluation:
        """Value and gradient."""
        ...

    def sharpen(self) -> None:
        """Be as exact as derivatives of the gradient need, from here on."""
        ...


class Climbed(NamedTuple):
    """A maximum.

    Attributes
    ----------
    parameters : array of shape (k,)
    evaluation : Evaluation
    hessian : array of shape (k, k)
        Of the log-likelihood; its negative is the observed information.
    """

    parameters: FloatArray
    evaluation: Evaluation
    hessian: FloatArray
    converged: bool
    n_iter: int


def climb(
    model: Likelihood,
    starts: list[FloatArray],
    total_weight: float,
    settings: ClimbSettings = CLIMB,
) -> Climbed:
    """The highest maximum that the starts lead to."""
    low, high = _limits(model, settings)

    def run(start: FloatArray, steps: int) -> tuple[FloatArray, float, int]:
        found = _run(model, start, steps, total_weight, settings)
        return found.x, float(found.fun), int(found.nit)

    first = [run(start, settings.first_steps) for start in starts] if len(starts) > 1 else []
    best = min(first, key=lambda found: found[1])[0] if first else starts[0]
    parameters, value, n_iter = run(best, settings.most_steps)
    if model.estimates and parameters[-1] < settings.nearly_none:
        # The likelihood is flat where the rate is nearly zero, and a climb ends anywhere on it.
        ends, at_bound, more = run(
            np.append(parameters[:-1], settings.lowest_logit), settings.most_steps
        )
        if at_bound <= value:
            parameters, n_iter = ends, n_iter + more
    model.sharpen()
    return _polish(model, parameters, total_weight, (low, high), n_iter, settings)


class Ascended(NamedTuple):
    """Where a climb ended."""

    parameters: FloatArray
    converged: bool


def ascend(
    model: Likelihood, start: FloatArray, total_weight: float, settings: ClimbSettings = CLIMB
) -> Ascended:
    """A maximum near a start, without derivatives of the gradient."""
    found = _run(model, start, settings.most_steps, total_weight, settings)
    return Ascended(found.x, bool(found.success))


def _limits(model: Likelihood, settings: ClimbSettings) -> tuple[FloatArray, FloatArray]:
    """Bounds of the parameters: only a rate has them."""
    low = np.full(model.n_parameters, -np.inf)
    high = np.full(model.n_parameters, np.inf)
    if model.estimates:
        low[-1], high[-1] = settings.lowest_logit, settings.highest_logit
    return low, high


def _run(
    model: Likelihood, start: FloatArray, steps: int, total_weight: float, settings: ClimbSettings
) -> OptimizeResult:
    """One climb, on the scale of a mean over rows."""

    def objective(parameters: FloatArray) -> tuple[float, FloatArray]:
        with np.errstate(over="ignore", invalid="ignore"):  # a trial step may go much too far
            found = model.evaluate(parameters)
        value = -found.value / total_weight
        if not np.isfinite(value) or not np.isfinite(found.gradient).all():
            return 1e30, np.zeros_like(parameters)
        return value, -found.gradient / total_weight

    return minimize(
        objective, start, jac=True, method="L-BFGS-B",
        bounds=list(zip(*_limits(model, settings), strict=True)),
        options={"maxiter": steps, "ftol": 1e-12, "gtol": settings.gradient, "maxcor": 20},
    )  # fmt: skip


def _polish(
    model: Likelihood,
    parameters: FloatArray,
    total_weight: float,
    limits: tuple[FloatArray, FloatArray],
    n_iter: int,
    settings: ClimbSettings,
) -> Climbed:
    """Newton's steps, which end where the gradient vanishes to rounding."""
    found = model.evaluate(parameters)
    hessian = hessian_of(lambda at: model.evaluate(at).gradient, parameters, settings.difference)
    free = (parameters > limits[0]) & (parameters < limits[1])
    for _ in range(settings.newton_steps):
        size = float(np.abs(found.gradient[free]).max(initial=0.0)) / total_weight
        if size < 1e-3 * settings.gradient:
            break
        step = np.zeros_like(parameters)
        try:
            step[free] = -np.linalg.solve(hessian[np.ix_(free, free)], found.gradient[free])
        except np.linalg.LinAlgError:
            break
        trial = np.clip(parameters + step, *limits)
        moved = model.evaluate(trial)
        if not np.isfinite(moved.value) or moved.value < found.value - 1e-9 * abs(found.value):
            break
        if float(np.abs(moved.gradient[free]).max(initial=0.0)) / total_weight >= size:
            break
        parameters, found = trial, moved
    free = (parameters > limits[0]) & (parameters < limits[1])
    size = float(np.abs(found.gradient[free]).max(initial=0.0)) / total_weight
    hessian = hessian_of(lambda at: model.evaluate(at).gradient, parameters, settings.difference)
    flat = size < 1e2 * settings.gradient or _left(found.gradient, hessian, free) < settings.left
    return Climbed(parameters, found, hessian, flat, n_iter)


def _left(gradient: FloatArray, hessian: FloatArray, free: BoolArray) -> float:
    """How far Newton's step would still go, in standard errors; it does not depend on units."""
    try:
        step = np.linalg.solve(-hessian[np.ix_(free, free)], gradient[free])
    except np.linalg.LinAlgError:
        return float("inf")
    squared = float(step @ gradient[free])
    return float(squared**0.5) if squared >= 0.0 else float("inf")


def hessian_of(
    gradient: Callable[[FloatArray], FloatArray], parameters: FloatArray, step: float
) -> FloatArray:
    """Derivatives of a gradient by central differences."""
    size = len(parameters)
    found = np.empty((size, size))
    for k in range(size):
        shift = np.zeros(size)
        shift[k] = step
        found[k] = (gradient(parameters + shift) - gradient(parameters - shift)) / (2.0 * step)
    symmetric: FloatArray = 0.5 * (found + found.T)
    return symmetric
