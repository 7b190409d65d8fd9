"""The tables of `unshuffle demo`: shipped data, shuffled inside zones, beside the known order."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from rich.table import Table
from sklearn.linear_model import LinearRegression

from ..datasets.boston import load_boston
from ..datasets.simulated import cut_by_rank, shuffle_inside
from ..estimators.shuffled import ShuffledRegressor
from ..io.frames import NamedMatrix
from ..kernels.types import BoolArray, FloatArray, IntArray

LABEL, ZONES_BY = "MEDV", "DIS"
GREEN, RED = "green", "red"
STYLES = {"trust": GREEN, "caution": "yellow", "reject": RED}


@dataclass(frozen=True, eq=False)
class DemoFit:
    """House prices shuffled inside zones, fitted without knowing which belongs to which tract.

    Attributes
    ----------
    n_zones : int
    seed : int
        Of the shuffle and of the fit.
    """

    n_zones: int
    seed: int

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(name for name in load_boston().columns if name != LABEL)

    @cached_property
    def zones(self) -> IntArray:
        """Tracts at a similar distance from work are in one zone."""
        return cut_by_rank(load_boston().column(ZONES_BY), self.n_zones)

    @cached_property
    def shuffled(self) -> FloatArray:
        """Prices in a random order inside zones."""
        order = shuffle_inside(np.random.RandomState(self.seed), self.zones)
        return self._prices[order]

    @cached_property
    def model(self) -> ShuffledRegressor:
        """The default estimator, given the zones and nothing else."""
        model = ShuffledRegressor(random_state=self.seed)
        return model.fit(NamedMatrix(self._features, self.names), self.shuffled, groups=self.zones)

    @cached_property
    def as_given(self) -> FloatArray:
        """Coefficients of least squares that takes the shuffled prices as they stand."""
        return np.asarray(LinearRegression().fit(self._features, self.shuffled).coef_)

    @cached_property
    def known(self) -> FloatArray:
        """Coefficients of least squares with every price beside its tract."""
        return np.asarray(LinearRegression().fit(self._features, self._prices).coef_)

    @property
    def holds(self) -> BoolArray:
        """Whether each 95 % interval holds the coefficient with the known order."""
        low, high = self.model.conf_int()[1:].T
        return np.asarray((low <= self.known) & (self.known <= high))

    @property
    def scale(self) -> FloatArray:
        """Standard deviations of the features: coefficients are shown per standard deviation."""
        return np.asarray(self._features.std(axis=0))

    def distance(self, coef: FloatArray) -> float:
        """From the coefficients with the known order, as a share of their length."""
        off, length = (coef - self.known) * self.scale, self.known * self.scale
        return float(np.linalg.norm(off) / np.linalg.norm(length))

    @property
    def _features(self) -> FloatArray:
        return np.asarray(load_boston().without(LABEL))

    @property
    def _prices(self) -> FloatArray:
        return np.asarray(load_boston().column(LABEL))


def coefficient_table(fit: DemoFit) -> Table:
    """Every coefficient: as given, ours with its interval, and with the known order."""
    table = Table(title=f"Coefficients for {LABEL}, per standard deviation of the feature")
    table.title_justify = "left"
    table.add_column("feature")
    for head in ("as given", "unshuffle", "95 % interval", "known order", "in interval"):
        table.add_column(head, justify="right")
    ends = fit.model.conf_int()[1:] * fit.scale[:, None]
    for j, name in enumerate(fit.names):
        given, ours, known = (
            f"{coef[j] * fit.scale[j]:+.2f}" for coef in (fit.as_given, fit.model.coef_, fit.known)
        )
        held = f"[{GREEN}]yes" if fit.holds[j] else f"[{RED}]no"
        table.add_row(name, given, ours, f"{ends[j, 0]:+.2f} to {ends[j, 1]:+.2f}", known, held)
    return table


def in_words(fit: DemoFit) -> str:
    """How near the coefficients come, and how many intervals hold what they should."""
    return (
        f"The coefficients differ from those with the known order by "
        f"{fit.distance(fit.model.coef_):.0%} of their length, least squares as given by "
        f"{fit.distance(fit.as_given):.0%}. {fit.holds.sum()} of {len(fit.holds)} intervals hold "
        "the coefficient with the known order."
    )


def verdict_table(fits: list[DemoFit]) -> Table:
    """What the verdict says as zones grow, beside how far off the answer is."""
    table = Table(title="The same prices shuffled inside larger zones")
    table.title_justify = "left"
    for head in ("zones", "tracts a zone"):
        table.add_column(head, justify="right")
    table.add_column("verdict")
    for head in ("intervals that hold", "off by", "as given off by"):
        table.add_column(head, justify="right")
    for fit in fits:
        level, n = fit.model.verdict_.level, len(fit.shuffled)
        errors = np.isfinite(fit.model.standard_errors_).all()
        held = f"{fit.holds.sum()} of {len(fit.holds)}" if errors else "no intervals"
        table.add_row(
            str(fit.n_zones), f"{n / fit.n_zones:.0f}", f"[{STYLES[level]}]{level}", held,
            f"{fit.distance(fit.model.coef_):.0%}", f"{fit.distance(fit.as_given):.0%}",
        )  # fmt: skip
    return table
