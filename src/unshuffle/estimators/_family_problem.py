"""From what a user hands to `fit` to the data of a fit of a family."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _num_samples

from ..data.problem import Problem, make_problem
from ..exceptions import UnshuffleWarning
from ..families.bernoulli import BERNOULLI
from ..families.exponential import LabelFamily
from ..families.row_errors import RowError
from ..fits.glm.data import GlmData, arrange_data, family_name
from ..io.frames import library_of
from ..kernels.types import BoolArray, FloatArray, IntArray
from ._attributes import stack_level
from ._family_data import check_offset, check_offset_size, check_weights
from ._frames import take_frame
from ._sources import into_memory
from ._validation import build_problem

MANY_ONES = 0.2  # among counts that often are 1, some would be 2


class FamilyProblem(NamedTuple):
    """The data of a fit.

    Attributes
    ----------
    blank : estimator
        A copy that features were recorded on; the estimator itself keeps an earlier fit.
    given : Problem
        All rows.
    data : GlmData
        The rows with a positive weight.
    kept : array of bool of shape (n,)
        Which those are, in the user's order.
    names : list of str or None
        Of the features, for messages.
    library : str or None
        That the data came in.
    """

    blank: Any
    given: Problem
    data: GlmData
    kept: BoolArray
    names: list[str] | None
    library: str | None


def family_problem(
    model: Any,
    family: LabelFamily | None,
    X: Any,
    y: Any,
    groups: Any,
    known: Any,
    match_prob: Any,
    *,
    fit_intercept: bool,
    sample_weight: Any = None,
    offset: Any = None,
    exposure: Any = None,
    event: FloatArray | None = None,
) -> FamilyProblem:
    """Check everything; a family of None is Cox's model, whose labels have events."""
    blank = type(model)(**model.get_params(deep=False))
    X, y, groups, known, match_prob = into_memory(model, X, y, groups, known, match_prob)
    X = take_frame(blank, X, y=y, groups=groups, known=known, match_prob=match_prob)
    n = _num_samples(X)
    weights = check_weights(sample_weight, n)
    shift = check_offset(offset, exposure, n)
    check_offset_size(shift, family_name(family))
    given, match_prob = build_problem(blank, X, y, groups, known, match_prob)
    problem = given
    kept = np.ones(n, dtype=bool) if weights is None else weights > 0.0
    if not kept.all():
        problem, match_prob = _rows_with_weight(given, match_prob, kept)
        weights, shift, event = (
            None if values is None else values[kept] for values in (weights, shift, event)
        )
    if family is not None:
        _check_labels(family, problem, np.flatnonzero(kept))
    data = arrange_data(
        problem, fit_intercept=fit_intercept and event is None, offset=shift,
        sample_weight=weights, match_prob=match_prob, event=event,
    )  # fmt: skip
    n_coefficients = data.Z.shape[1]
    if problem.n_rows <= n_coefficients and family is not BERNOULLI:
        raise ValueError(
            f"X has n_samples = {problem.n_rows} rows for {n_coefficients} coefficients; give "
            "more rows than coefficients, or choose fewer features"
        )
    names = getattr(blank, "feature_names_in_", None)
    return FamilyProblem(
        blank, given, data, kept, None if names is None else list(names), library_of(X, y, groups)
    )


def _check_labels(family: LabelFamily, problem: Problem, rows: IntArray) -> None:
    """Refuse labels that the family cannot have, in the user's numbers of rows."""
    try:
        family.check_labels(problem.restore(problem.y))
    except RowError as error:
        raise error.at(int(rows[error.row])) from None
    if family.name not in {"poisson", "negative-binomial"} or problem.y.max() > 1.0:
        return
    if problem.y.mean() > MANY_ONES:
        warnings.warn(
            f"{problem.y.mean():.0%} of the labels are 1, and all others 0: these are rather two "
            f"classes than counts, and family={family.name!r} overstates their noise; "
            "ShuffledClassifier fits odds",
            UnshuffleWarning,
            stacklevel=stack_level(),
        )


def _rows_with_weight(
    problem: Problem, match_prob: FloatArray | None, kept: BoolArray
) -> tuple[Problem, FloatArray | None]:
    """The rows that take part, in the user's order."""
    codes = np.full(problem.n_rows, problem.n_blocks, dtype=np.float64)
    codes[: problem.n_movable] = np.repeat(np.arange(problem.n_blocks), np.diff(problem.starts))
    codes = problem.restore(codes)[kept]
    pinned = codes == problem.n_blocks
    numbers = np.unique(codes, return_inverse=True)[1].astype(np.int64)
    part = make_problem(problem.X[kept], problem.restore(problem.y)[kept], numbers, pinned)
    given = None if match_prob is None else part.arrange(problem.restore(match_prob)[kept])
    return part, given
