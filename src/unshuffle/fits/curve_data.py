"""A table with columns of a curve beside its features, and what its fits say of the plane."""

from dataclasses import replace

import numpy as np

from ..families.least_squares import LeastSquares
from ..inference.mixture_information import lead_to_coef
from ..inference.sandwich import Robust
from ..kernels.streams import OTHER_PLANES, numbered_generator
from ..kernels.types import FloatArray
from ..search.curve_columns import curve_columns
from .data import InMemory
from .results import CurveFit, Errors, Iterations, StochasticFit, Uncertainty, standard_errors_of


def with_curve(data: InMemory, solver: LeastSquares) -> InMemory:
    """The table with the columns of a curve after its features; `solver` is that of the features.

    The columns depend on the features alone, so that they are the same whenever they are made.
    """
    X = data.problem.X
    wider = np.hstack([X, curve_columns(X, solver)])
    return replace(data, problem=replace(data.problem, X=wider))


def plane_of(found: StochasticFit, straight: StochasticFit, solver: LeastSquares) -> StochasticFit:
    """The plane in a fit around a curve: what its fit says of the features.

    Parameters
    ----------
    found : StochasticFit
        To features and columns of the curve.
    straight : StochasticFit
        To the features alone.
    solver : LeastSquares
        Of the features.
    """
    assert found.uncertainty is not None and found.errors is not None
    d, errors, path = solver.to_coef.shape[0], found.errors, found.iterations
    curve = _beside_plane(found, solver)
    robust = None if errors.robust is None else robust_of_features(errors.robust, curve, solver)
    return replace(
        straight,
        coef=found.coef[:d],
        intercept=found.intercept,
        noise_scale=float(noise_around_plane(found, d, found.coef, found.noise_scale)),
        mismatch_rate=found.mismatch_rate,
        iterations=Iterations(path.converged, path.objective, path.coef[:, :d]),
        acceptance_rate=found.acceptance_rate,
        matches=found.matches,
        uncertainty=_of_features(found.uncertainty, curve, solver),
        permutations=found.permutations,
        errors=Errors(
            errors.kind,
            _of_features(errors.uncertainty, curve, solver),
            errors.freedom,
            errors.p_value,
            robust,
        ),
        curve=curve,
    )


def noise_around_plane(
    found: StochasticFit, n_features: int, coef: FloatArray, noise_scale: FloatArray | float
) -> FloatArray:
    """Standard deviation of labels from the plane: noise, and what the curve adds to the plane.

    `coef` are coefficients of features and columns, of one fit or of many draws.
    """
    n, freedom = found.design.n_rows, found.design.freedom
    left = freedom * np.square(noise_scale) + n * (coef[..., n_features:] ** 2).sum(axis=-1)
    return np.asarray(np.sqrt(left / (freedom + coef.shape[-1] - n_features)))


def robust_of_features(robust: Robust, curve: CurveFit, solver: LeastSquares) -> Robust:
    """The sandwich of the plane; an intercept is always its first entry."""
    size = 1 + solver.to_coef.shape[0]
    coef = robust.covariance.coef[:size, :size] + curve.bend_covariance
    inflation = _inflation(coef[1:, 1:], curve, solver)
    return robust._replace(covariance=robust.covariance._replace(coef=coef, inflation=inflation))


def away_from_plane(curve: CurveFit, n_draws: int, seed: int) -> FloatArray:
    """Draws of how far the best planes of other rows are from this one; the intercept first.

    Refits and posteriors keep the features, so that their draws lack this part of the error.
    """
    rng = numbered_generator(seed, OTHER_PLANES)
    zero = np.zeros(len(curve.bend_covariance))
    return rng.multivariate_normal(zero, curve.bend_covariance, size=n_draws, method="eigh")


def _beside_plane(found: StochasticFit, solver: LeastSquares) -> CurveFit:
    r"""The curve, and what the plane varies by because its rows are a sample.

    Other rows have another best plane. With :math:`m_i` what the curve adds to the plane in row i,
    that is the sandwich of White (1980): :math:`(W^\top W)^{-1} \sum_i m_i^2 w_i w_i^\top
    (W^\top W)^{-1}`. Labels in known order have it in their residuals.
    """
    assert found.permutations is not None
    d, state = solver.to_coef.shape[0], found.permutations.state
    fitted = found.permutations.problem.restore(state.fitted)
    bend = fitted - solver.predict(found.coef[:d], found.intercept)
    n, columns = len(bend), solver.basis()
    if solver.fit_intercept:
        columns = np.column_stack([np.full(n, n**-0.5), columns])
    leads = lead_to_coef(solver)
    varies = leads @ (columns.T @ (columns * (bend**2)[:, None])) @ leads.T
    covariance = np.zeros((1 + d, 1 + d))
    covariance[1 - int(solver.fit_intercept) :, 1 - int(solver.fit_intercept) :] = varies
    return CurveFit(found, bend, covariance * n / max(n - solver.n_parameters, 1))


def _of_features(found: Uncertainty, curve: CurveFit, solver: LeastSquares) -> Uncertainty:
    """Standard errors of the plane."""
    d, first = solver.to_coef.shape[0], int(solver.fit_intercept)
    size = first + d
    own = found.covariance[:size, :size] + curve.bend_covariance[1 - first :, 1 - first :]
    return replace(
        found,
        covariance=own,
        standard_errors=standard_errors_of(own),
        noise_scale_se=_noise_error(curve.fit, d, found),
        inflation=_inflation(own[first:, first:], curve, solver),
    )


def _inflation(slopes: FloatArray, curve: CurveFit, solver: LeastSquares) -> float:
    """Standard errors as a multiple of those with the order known, around the same curve."""
    known = curve.fit.noise_scale**2 * solver.rank + _total(curve.bend_covariance[1:, 1:], solver)
    return (_total(slopes, solver) / known) ** 0.5 if known > 0.0 else 1.0


def _total(slopes: FloatArray, solver: LeastSquares) -> float:
    """Variance of all directions of an orthonormal basis together."""
    return float(np.trace(solver.to_theta @ slopes @ solver.to_theta.T))


def _noise_error(found: StochasticFit, n_features: int, errors: Uncertainty) -> float:
    """Standard error of the noise around the plane, by the delta method."""
    extra = errors.covariance[len(errors.covariance) - len(found.coef) + n_features :]
    extra = extra[:, -len(extra) :]
    noise = float(noise_around_plane(found, n_features, found.coef, found.noise_scale))
    freedom = found.design.freedom + len(extra)
    by_noise = found.design.freedom * found.noise_scale / (freedom * noise)
    by_curve = found.design.n_rows * found.coef[n_features:] / (freedom * noise)
    return float(np.sqrt((by_noise * errors.noise_scale_se) ** 2 + by_curve @ extra @ by_curve))
