"""What a fit is asked to do."""

from dataclasses import dataclass

from ..em.settings import DEFAULTS, EMSettings
from ..families.family import Family
from ..families.normal import NORMAL
from ..inference.audited_rate import Audit
from ..kernels.types import FloatArray
from ..search.settings import DEFAULT as SEARCHING
from ..search.settings import SearchSettings


@dataclass(frozen=True, eq=False)
class StochasticSettings:
    """Settings of `fit_stochastic`; None leaves the choice to the fit.

    Attributes
    ----------
    seed : int
    variant : {"exact", "published"}
    max_iter : int
    tol : float or None
        0 runs all iterations.
    n_steps, burn_in, thin : int or None
        Proposals of one iteration, those not averaged, and the distance of averaged states.
    init : array of shape (d,) or None
        Starting coefficients; None starts from the labels as given.
    mismatch_rate : float, "estimate" or None
        None where the order is lost.
    max_shift : int or None
        Largest distance of a label from its row in the table.
    alignment : {"chain", "sinkhorn", "exact"}
    temper, ridge : float
    fit_intercept : bool
    covariance : {"auto", "model", "robust"}
        Of the standard errors.
    family : Family
        Law of the labels.
    em : EMSettings
    """

    seed: int
    variant: str = "exact"
    max_iter: int = 50
    tol: float | None = None
    n_steps: int | None = None
    burn_in: int | None = None
    thin: int | None = None
    init: FloatArray | None = None
    mismatch_rate: float | str | None = None
    max_shift: int | None = None
    alignment: str = "chain"
    temper: float = 1.0
    ridge: float = 0.0
    fit_intercept: bool = True
    covariance: str = "auto"
    family: Family = NORMAL
    em: EMSettings = DEFAULTS

    @property
    def maximises_likelihood(self) -> bool:
        """Whether the likelihood is neither tempered nor penalised."""
        return self.temper == 1.0 and self.ridge == 0.0


@dataclass(frozen=True, eq=False)
class HardSettings:
    """Settings of `fit_hard`.

    Attributes
    ----------
    seed : int
    n_init : int or None
        Starts; None is one per row.
    max_iter : int
    init : array of shape (d,) or None
        Coefficients of a further start.
    fit_intercept : bool
    """

    seed: int
    n_init: int | None = None
    max_iter: int = 50
    init: FloatArray | None = None
    fit_intercept: bool = True


@dataclass(frozen=True)
class MixtureSettings:
    """Settings of `fit_mixture_model`.

    Attributes
    ----------
    mismatch_rate : float or None
        None estimates it.
    max_iter : int
    tol : float
    fit_intercept : bool
    noise : {"normal", "t", "mixture", "auto"}
    """

    mismatch_rate: float | None = None
    max_iter: int = 500
    tol: float = 1e-10
    fit_intercept: bool = True
    noise: str = "normal"


@dataclass(frozen=True)
class AutoSettings:
    """Settings of `fit_auto`; None leaves the choice to the fit.

    Attributes
    ----------
    seed : int
    pairing : {"auto", "lost", "mostly-right", "known"}
    mismatch_rate : float or "estimate"
    audit : Audit or None
        Where the rate comes from; its uncertainty goes into the standard errors.
    search : {"auto", "none", "population"}
    n_candidates : int or None
    alignment : {"chain", "sinkhorn", "exact"}
    noise : {"auto", "normal", "t", "mixture"}
        Law of the noise where the order given is used.
    temper, ridge : float or None
    start : {"match", "labels as given"} or None
        Where EM starts if the order is lost.
    fit_intercept : bool
    covariance : {"auto", "model", "robust"}
    em : EMSettings
    searching : SearchSettings
    """

    seed: int
    pairing: str = "auto"
    mismatch_rate: float | str = "estimate"
    audit: Audit | None = None
    search: str = "auto"
    n_candidates: int | None = None
    alignment: str = "chain"
    noise: str = "auto"
    temper: float | None = None
    ridge: float | None = None
    start: str | None = None
    fit_intercept: bool = True
    covariance: str = "auto"
    em: EMSettings = DEFAULTS
    searching: SearchSettings = SEARCHING
