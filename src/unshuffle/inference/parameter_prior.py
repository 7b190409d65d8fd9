r"""Weakly informative, proper priors of the coefficients, the noise and the rate of mismatches.

In an orthonormal basis U of the (centred) columns of X the model is
:math:`y_{\pi} = m + U \theta + \varepsilon`, :math:`\varepsilon \sim N(0, s^2 I)`, where m is the
intercept at the mean row. The priors are

.. math::

    \theta_j \sim N(0, T^2), \quad m \sim N(m_0, M^2), \quad s \sim \text{half-}t_\nu(A), \quad
    \alpha \sim \text{Beta}(a, b),

independent of each other. Distances of :math:`\theta` are those of fitted values, so that the prior
follows the metric of X and not the units of its columns. The half-t prior is finite at zero: it
does not keep the noise away from being small. It is drawn through
:math:`s^2 \mid h \sim IG(\nu/2, \nu/h)`, :math:`h \sim IG(1/2, 1/A^2)`.
"""

from dataclasses import dataclass

from ..data.problem import Problem


@dataclass(frozen=True)
class ParameterPrior:
    """Priors of the parameters.

    Attributes
    ----------
    coef_scale : float
        T, standard deviation of each coordinate in the orthonormal basis.
    intercept_mean, intercept_scale : float
        Mean and standard deviation of the fitted value of the mean row.
    noise_scale, noise_freedom : float
        A and ν of the half-t prior on the standard deviation of the noise.
    rate_shape : pair of float
        Of the Beta prior on the rate of mismatches.
    """

    coef_scale: float
    intercept_mean: float
    intercept_scale: float
    noise_scale: float
    noise_freedom: float = 3.0
    rate_shape: tuple[float, float] = (1.0, 1.0)


def weakly_informative(problem: Problem, wide: float = 10.0) -> ParameterPrior:
    r"""Priors on the scale of the labels.

    Little is said about what lies within `wide` standard deviations of the labels. With
    :math:`\bar y` and :math:`\tau` their mean and standard deviation:
    :math:`T = 10 \tau \sqrt n` (ten label standard deviations, root mean square over the rows, for
    each direction), :math:`m_0 = \bar y`, :math:`M = 10 \tau`, :math:`A = \tau`, :math:`\nu = 3`,
    and a uniform rate.
    """
    spread = problem.label_spread or 1.0
    return ParameterPrior(
        coef_scale=wide * spread * problem.n_rows**0.5,
        intercept_mean=float(problem.y.mean()),
        intercept_scale=wide * spread,
        noise_scale=spread,
    )
