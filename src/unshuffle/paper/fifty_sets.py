"""Fig. 2b: Hard EM against Stochastic EM on 50 data sets, one dot each."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from ..datasets.simulated import make_shuffled_regression
from .experiment import Experiment, Reading, Tick, judge
from .methods import compare
from .style import EXACT, HARD, STOCHASTIC, STYLES, ZERO, legend_outside, new_figure
from .tables import by_method, mean_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Settings:
    """The paper's: 50 sets of n = 500, d = 30, noise variance 1."""

    n_samples: int = 500
    n_features: int = 30
    noise: float = 1.0
    n_sets: int = 50


def run(settings: Settings, seed: int, tick: Tick) -> pd.DataFrame:
    """Error of every method on each set."""
    rows = []
    for k in range(settings.n_sets):
        data = make_shuffled_regression(
            settings.n_samples, settings.n_features, noise=settings.noise, random_state=seed + k
        )
        rows += compare(data, seed + k, set=k)
        tick(k + 1, settings.n_sets)
    return pd.DataFrame(rows)


def draw(table: pd.DataFrame) -> "Figure":
    """Error of Hard EM against that of Stochastic EM, and of two controls."""
    wide = table.pivot_table(index="set", columns="method", values="error")
    figure, (axis,) = new_figure()
    for method in (STOCHASTIC, EXACT, ZERO):
        style = STYLES[method]
        axis.scatter(
            wide[HARD], wide[method], label=method, s=22, alpha=0.8,
            color=style["color"], marker=style["marker"],
        )  # fmt: skip
    high = 1.05 * wide[[HARD, STOCHASTIC, EXACT, ZERO]].to_numpy().max()
    axis.plot([0, high], [0, high], color="grey", linewidth=1, label="equal errors")
    axis.set(
        xlabel="error of Hard EM", ylabel="error of the other method",
        xlim=(0, high), ylim=(0, high),
    )  # fmt: skip
    legend_outside(figure, axis)
    return figure


def read(table: pd.DataFrame) -> Reading:
    """The share of sets where Stochastic EM is lower, and where zero is lower still."""
    wide = table.pivot_table(index="set", columns="method", values="error")
    share = (wide[STOCHASTIC] < wide[HARD]).mean()
    zero = (wide[ZERO] < wide[STOCHASTIC]).mean()
    return Reading(
        claim="On nearly every data set Stochastic EM has a lower error than Hard EM.",
        published="a picture without numbers",
        ours=f"lower on {share:.0%} of {len(wide)} sets; mean error {wide[STOCHASTIC].mean():.2f} "
        f"against {wide[HARD].mean():.2f}.",
        rule="holds if its error is lower on 90 % of the sets or more; in part if on half of them or more",
        verdict=judge(share >= 0.9, share >= 0.5),
        comment=f"The zero vector beats Stochastic EM on {zero:.0%} of the same sets (mean error "
        f"{wide[ZERO].mean():.2f}). The cosine with the truth is {mean_of('cosine', table, STOCHASTIC):+.2f} for Stochastic EM "
        f"and {mean_of('cosine', table, HARD):+.2f} for Hard EM: what is shown is shrinkage towards zero.",
    )


EXPERIMENT = Experiment(
    name="sets",
    figure="Fig. 2b",
    title="Fifty data sets",
    settings=Settings(),
    quick=Settings(n_sets=10),
    run=run,
    draw=draw,
    summarise=by_method,
    read=read,
)
