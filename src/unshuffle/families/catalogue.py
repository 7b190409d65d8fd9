"""Families by the names that users give them."""

from .bernoulli import BERNOULLI
from .exponential import LabelFamily
from .gamma import GAMMA
from .negative_binomial import NEGATIVE_BINOMIAL
from .normal_labels import NORMAL_LABELS
from .poisson import POISSON

FAMILIES: dict[str, LabelFamily] = {
    family.name: family for family in (NORMAL_LABELS, BERNOULLI, POISSON, GAMMA, NEGATIVE_BINOMIAL)
}
REGRESSIONS = ("normal", "poisson", "gamma", "negative-binomial")
