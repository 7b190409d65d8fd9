"""Bootstrap of a fit of a family: rows, or whole groups, drawn with replacement and fitted again.

Groups are drawn where there are enough of them, since labels of one group depend on each other;
otherwise rows with their labels. Where the order is lost a row has no label, and groups it must be.
Replicate r has a stream of its own, keyed by (seed, r), so that threads cannot change the result.
"""

from dataclasses import replace

import numpy as np

from ...data.threads import Workers
from ...families.exponential import LabelFamily
from ...inference.bootstrap import BootstrapResult
from ...inference.sampling_settings import BOOTSTRAP
from ...kernels.streams import FIRST_REPLICATE, numbered_generator
from ..progress import Progress, Reporting, quiet
from .audited import audit_used
from .data import GlmData
from .refit import Refitted, refit, start_at
from .resample import draw_units, repeated_draw, sizes_of_units, weighted_draw
from .results import FamilyFit
from .settings import RESAMPLING, GlmSettings


def bootstrap_family(
    data: GlmData,
    family: LabelFamily | None,
    fit: FamilyFit,
    settings: GlmSettings,
    *,
    n_boot: int,
    seed: int,
    workers: Workers,
    reporting: Reporting = quiet,
) -> BootstrapResult:
    """Draw units and fit them again, `n_boot` times; a family of None is Cox's model."""
    by_group = draws_groups(data, fit.pairing)
    sizes, start = sizes_of_units(data, by_group=by_group), start_at(data, fit)
    # An audit is another sample, which is drawn again as well.
    audit = audit_used(data, settings) if fit.pairing == "mostly-right" else None
    taken = repeated_draw if fit.pairing == "lost" else weighted_draw

    def one(number: int) -> Refitted:
        rng = numbered_generator(seed, FIRST_REPLICATE + number)
        part = taken(data, sizes, draw_units(sizes, rng))
        if audit is None:
            return refit(part, family, fit.pairing, start, settings, int(rng.integers(2**62)))
        rate = audit.repeated(rng).interior_rate
        own = replace(settings, mismatch_rate=rate)
        draw = refit(part, family, fit.pairing, start, own, int(rng.integers(2**62)))
        return draw._replace(rate=rate)

    draws: list[Refitted] = []
    at_once = BOOTSTRAP.replicates_at_once * workers.n_jobs
    with reporting(n_boot, "replicates") as report:
        for first in range(0, n_boot, at_once):
            draws += workers.map(one, range(first, min(first + at_once, n_boot)))
            report(Progress(len(draws), n_boot))
    nan = float("nan")
    estimated = not np.isnan(fit.mismatch_rate_se)
    return BootstrapResult(
        fit.values,
        np.array([data.design.to_natural @ draw.theta for draw in draws]),
        nan,
        np.full(n_boot, nan),
        fit.mismatch_rate if estimated else nan,
        np.array([draw.rate if estimated else nan for draw in draws]),
        sum(not draw.converged for draw in draws),
    )


def draws_groups(data: GlmData, pairing: str) -> bool:
    """Whether units are groups; too few units are an error."""
    n_units = len(sizes_of_units(data, by_group=pairing == "lost"))
    needed = data.Z.shape[1] + RESAMPLING.more_than_parameters
    if n_units < needed:
        units = "whole groups where the order is lost" if pairing == "lost" else "rows"
        raise ValueError(
            f"the bootstrap draws {units}, and there are {n_units}; it needs {needed} or more: use "
            "conf_int(method='information')"
        )
    enough = data.problem.n_blocks >= max(needed, RESAMPLING.fewest_groups)
    return pairing == "lost" or (pairing == "mostly-right" and enough)
