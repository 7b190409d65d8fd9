"""All experiments, in the order of the paper."""

from . import consistency, error_by_size, fifty_sets, gated, housing, partial, starts
from .experiment import Experiment

MODULES = (error_by_size, fifty_sets, consistency, partial, gated, housing, starts)

EXPERIMENTS: dict[str, Experiment] = {m.EXPERIMENT.name: m.EXPERIMENT for m in MODULES}
