"""The default fit: find out what kind of shuffle it is, fit accordingly, and judge the result."""

from dataclasses import replace
from functools import cached_property

from ..search.lost import Finding
from ..search.mostly_right import fits_tightly
from ..search.order_test import order_p_value
from .auto_results import AutoFit, Outcome
from .conclusion import conclude, with_law
from .curved import follow_curve
from .data import InMemory
from .examination import examine
from .isolated import isolated_in, without_isolated
from .known import fit_known
from .lost_order import LostOrder
from .order_given import fit_order_given, least_squares
from .progress import Reporting, quiet
from .routes import ROUTES
from .settings import AutoSettings
from .table_fits import TableFits

NAN = float("nan")


def fit_auto(data: InMemory, settings: AutoSettings, *, reporting: Reporting = quiet) -> AutoFit:
    """Fit as the order given suggests: as it is, with a few mismatches, or by a search.

    Parameters
    ----------
    data : InMemory
    settings : AutoSettings
    reporting : callable
        Opens reports of the search and of the iterations.

    Returns
    -------
    fit : AutoFit
    """
    router = Router(TableFits(data, settings, reporting))
    outcome = follow_curve(router.fits, router.fit())
    return router.conclude(with_law(router.fits, outcome))


class Router:
    """Every way to fit one table; what several of them need is computed once.

    Parameters
    ----------
    fits : TableFits
    """

    def __init__(self, fits: TableFits) -> None:
        self.fits, self.lost = fits, LostOrder(fits)
        self.isolated = isolated_in(fits)
        self.order_p_value = NAN  # where no test of the order was made

    def fit(self) -> Outcome:
        """Fit as declared, or as the labels suggest."""
        pairing, fits = self.declared_pairing(), self.fits
        if pairing == "auto":
            return self.find_out()
        if pairing == "mostly-right":
            return self.mostly_right
        if pairing == "lost":
            return self.lost.fit(self.lost.explore())
        known = fit_known(fits.data, fits.solver, fits.settings.seed, fits.settings.covariance)
        return Outcome(known, "known")

    def conclude(self, outcome: Outcome) -> AutoFit:
        """Put everything together, and judge it."""
        return conclude(self.fits, self.lost, self.order_p_value, outcome, self.isolated)

    @cached_property
    def mostly_right(self) -> Outcome:
        """The answer where the order given is used."""
        return fit_order_given(
            self.fits,
            order_is_sure=not self.order_p_value >= ROUTES.informative,
            isolated=self.isolated,
        )

    def declared_pairing(self) -> str:
        """What the settings or the data themselves declare of the order given."""
        data, pairing = self.fits.data, self.fits.settings.pairing
        if data.order_from is not None and pairing in {"lost", "known"}:
            raise ValueError(
                f"{data.order_from} means that the order given is mostly right, but pairing="
                f"{pairing!r}; leave out one of the two"
            )
        if data.problem.n_movable == 0:
            return "known"
        if not data.side_by_side:
            return "lost"
        return pairing if data.order_from is None else "mostly-right"

    def find_out(self) -> Outcome:
        """Fit as the order given suggests; where the fit contradicts it, the other way."""
        problem = self.fits.data.problem
        p_value = self.order_p_value = order_p_value(
            without_isolated(problem, self.isolated), self.fits.solver, self.fits.settings.seed
        )
        ordered = p_value < ROUTES.informative
        # Inside groups least squares as given is far off where the order is lost, so that an order
        # that is only plausible does not count.
        plausible = p_value < ROUTES.perhaps and problem.n_blocks == 1
        assumed = ordered or (
            plausible and fits_tightly(problem, self.fits.solver, self.fits.settings.seed)
        )
        if assumed and self._order_left():
            return self.mostly_right
        outcome = self.lost.fit(self.lost.explore())
        if self.lost.is_doubted(outcome):
            outcome = self.lost.cautious(outcome.finding)
        if plausible and not ordered and self._order_left():
            trusted = self.conclude(outcome).verdict.level == "trust"
            return outcome if trusted else self.mostly_right
        return self._unclear(outcome.finding) if self.lost.tells_nothing(outcome) else outcome

    def _unclear(self, finding: Finding | None) -> Outcome:
        """Least squares: the right answer if the labels are in order; if not, there is none."""
        fits = self.fits
        facts = examine(fits.data.problem, fits.settings.noise, order_is_sure=False).facts
        return least_squares(fits, replace(facts, answer="unclear"), finding)

    def _order_left(self) -> bool:
        """Whether a fit that assumes the order given finds that some of it is left."""
        rate = self.mostly_right.fit.mismatch_rate
        return rate is None or not rate > ROUTES.nothing_left
