"""Were labels exchanged inside blocks that a fit does not know of?"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..data.groups import encode_groups
from ..inference.block_tests import BlockTests, compare_slopes, holm
from ..inference.blocks import BlockSlopes, block_slopes
from ..inference.intervals import Estimates
from ..inference.settings import BLOCKS, BlockSettings
from ..io.frames import feature_names, plain_column, plain_columns
from ..kernels.types import FloatArray, IntArray
from ._blocks_result import ORDER, BlockCheck, BlocksResult, Finding
from ._seeding import seed_from
from ._sources import into_memory
from ._validation import check_features_and_labels, check_lengths, column_names

__all__ = ["BlockCheck", "BlocksResult", "check_blocks"]
UNNAMED = "blocks"  # what a column without a name is called


def check_blocks(
    X: Any,
    y: Any,
    blocks: Any,
    *,
    level: float = 0.95,
    random_state: Any = 0,
    settings: BlockSettings = BLOCKS,
) -> BlocksResult:
    r"""Compare slopes within blocks of rows with slopes between blocks.

    Labels exchanged inside blocks (a clinic, a plate, a day, a block of the record linkage) weaken
    the slopes. To a fit without ``groups`` this looks like weaker slopes and more noise, so that no
    verdict can detect it. But an exchange inside blocks leaves the means of the blocks as they are.
    With a share a of the rows exchanged inside their blocks

    .. math:: \beta_\text{within} = (1 - a) \, \beta_\text{between}

    for all features, with one factor between 0 and 1 (as low as -1 / (m - 1) in blocks of m rows
    none of which keeps its label). Without an exchange, and without effects of the block means
    themselves, both are equal. If there is a sign of an exchange, fit with ``groups=blocks``.

    A difference is no proof. Means of blocks may have an effect of their own ("contextual" or
    "ecological" effects), and errors of measurement in the features weaken slopes within blocks
    more than those between. With several features such causes rarely give all slopes the same
    factor, which is tested too; with one feature they cannot be told from an exchange.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        Labels, in the order given.
    blocks : array-like of shape (n_samples,), data frame, or mapping
        Any hashable name per row. A data frame, or a mapping from names to columns, has one check
        for each column, and p-values are adjusted for their number.
    level : float, default=0.95
        Of the interval of the factor. A p-value below one minus this is a sign.
    random_state : int, RandomState or None, default=0
        Seed of the draws of a null distribution.
    settings : BlockSettings, optional
        How many draws, how many blocks are needed.

    Returns
    -------
    result : BlocksResult
        ``finding``, ``factor``, ``p_value`` and ``text``; ``checks`` has one `BlockCheck` with all
        numbers for each column. ``print(result)`` shows them.

    Notes
    -----
    Slopes between blocks are least squares of the blocks' mean labels on their mean features,
    weighted by their rows; slopes within are least squares around the means. Features that are
    constant within all blocks are held constant between them, and not compared. Standard errors
    come from leaving out one block at a time (HC3 between, CR3 within), so the noise may have any
    variance and may be shared by the rows of a block.

    The test for weaker slopes (``p_weaker``) is a conditional likelihood ratio test [1]_ against
    one factor in [0, 1); the test of equality (``p_equal``) and that of a common factor
    (``p_common``) are Wald tests with Hotelling's correction. Each claim has its own test: at the
    default level an exchange is claimed in 5 % of the data without any difference, and an exchange
    or another difference in 5 to 10 %. ``python -m benchmarks.blocks`` prints both, and the power.
    The cost is O(n d^2).

    Where several columns show a sign, labels exchanged inside small blocks also weaken slopes
    within the larger blocks that hold them. Start with the column of the smallest p-value.

    References
    ----------
    .. [1] Moreira, M. J. (2003), A conditional likelihood ratio test for structural models,
       *Econometrica* 71(4), 1027-1048.

    Examples
    --------
    >>> import numpy as np
    >>> from unshuffle import check_blocks
    >>> rng = np.random.default_rng(0)
    >>> clinic = np.arange(400) // 8
    >>> X = rng.normal(size=(400, 2)) + rng.normal(size=(50, 2))[clinic]
    >>> y = X @ [1.0, -1.0] + rng.normal(size=400)
    >>> check_blocks(X, y, clinic).finding
    'no sign'
    >>> mixed = rng.permuted(y.reshape(50, 8), axis=1).ravel()  # inside each clinic
    >>> result = check_blocks(X, mixed, clinic)
    >>> result.finding, bool(result.factor.high < 0.2)
    ('exchange', True)
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie between 0 and 1, got {level}")
    blank = BaseEstimator()
    X, y = into_memory(blank, X, y)
    named = named_columns(blocks)
    y = plain_column(y)
    check_lengths(X, y, None)
    names = column_names(X)
    X, y = check_features_and_labels(blank, X, y)
    features = feature_names(names, X.shape[1])
    seed = seed_from(random_state)
    found = []
    for name, column in named.items():
        codes, block_names = _numbered(column, len(y), name)
        try:
            slopes = block_slopes(X, y, codes, features, block_names, settings)
        except ValueError as error:
            where = "" if name == UNNAMED else f"blocks of {name!r}: "
            raise ValueError(f"{where}{error}") from error
        found.append((name, codes, slopes, compare_slopes(slopes, level, seed, settings)))
    weaker, equal = (
        holm(np.array([getattr(tests, kind) for *_, tests in found]))
        for kind in ("p_weaker", "p_equal")
    )
    checks = [
        _make_check(*one, features, float(p), float(q), level, settings)
        for one, p, q in zip(found, weaker, equal, strict=True)
    ]
    checks.sort(key=lambda one: (ORDER.index(one.finding), one.p_weaker, one.p_equal))
    return BlocksResult(tuple(checks))


def named_columns(blocks: Any) -> dict[str, Any]:
    """Columns of blocks by their names."""
    if isinstance(blocks, Mapping):
        named = {str(name): plain_column(column) for name, column in blocks.items()}
    elif column_names(blocks) is not None:
        named = plain_columns(blocks)
    else:
        name = getattr(blocks, "name", None)
        named = {UNNAMED if name is None else str(name): plain_column(blocks)}
    if not named:
        raise ValueError("blocks has no columns; name at least one")
    return named


def _numbered(column: Any, n_rows: int, name: str) -> tuple[IntArray, list[object]]:
    """Number of each row's block, and the names of the blocks."""
    shown = UNNAMED if name == UNNAMED else f"the column {name!r} of blocks"
    codes = encode_groups(column, n_rows, shown)
    _, first = np.unique(codes, return_index=True)
    values = np.asarray(column, dtype=object).ravel()
    return codes, list(values[first])


def _make_check(
    name: str, codes: IntArray, slopes: BlockSlopes, tests: BlockTests, features: list[str],
    adjusted_weaker: float, adjusted_equal: float, level: float, settings: BlockSettings,
) -> BlockCheck:  # fmt: skip
    k = len(slopes.between)
    errors: FloatArray = np.sqrt(np.diag(slopes.covariance)) * np.tile(slopes.units, 2)
    return BlockCheck(
        name,
        judge_blocks(slopes, tests, adjusted_weaker, adjusted_equal, 1.0 - level, settings),
        tests.factor,
        tests.p_weaker,
        adjusted_weaker,
        tests.p_equal,
        adjusted_equal,
        tests.p_common,
        [features[j] for j in slopes.compared],
        Estimates(slopes.between * slopes.units, errors[:k], slopes.freedom),
        Estimates(slopes.within * slopes.units, errors[k:], slopes.freedom),
        len(codes),
        int(codes.max()) + 1,
        slopes.n_alone,
        level,
    )


def judge_blocks(
    slopes: BlockSlopes, tests: BlockTests, p_weaker: float, p_equal: float, alpha: float,
    settings: BlockSettings = BLOCKS,
) -> Finding:  # fmt: skip
    """What the tests amount to; the p-values given are adjusted for the number of columns."""
    factor = tests.factor
    possible = factor.value < 1.0 and factor.high >= slopes.lowest_factor
    # nan, where a single slope has its own factor, is no evidence against a common one.
    if p_weaker < alpha and possible and not tests.p_common < alpha:
        return "exchange"
    if p_equal < alpha or p_weaker < alpha:
        return "other difference"
    return "unclear" if factor.low < settings.clear_factor else "no sign"
