"""A program as a typed user would write it; `mypy` checks it as strictly as the package."""

import numpy as np

from unshuffle import (
    Comparison,
    ShuffledRegressor,
    ShuffledRegressorCV,
    Summary,
    Verdict,
    compare,
)
from unshuffle.datasets import make_shuffled_regression


def fit(seed: int) -> tuple[float, str]:
    """Fit, ask for everything that has a type, and return two plain values."""
    data = make_shuffled_regression(60, 2, noise=0.1, random_state=seed)
    model = ShuffledRegressor(random_state=seed).fit(data.X, data.y)
    verdict: Verdict = model.verdict_
    summary: Summary = model.summary(level=0.9, covariance="model")
    predicted = model.predict(data.X)
    again, ends = model.predict(data.X, interval=0.9)
    both: Comparison = compare(model, ShuffledRegressorCV(random_state=seed))
    assert np.array_equal(predicted, again)
    assert ends.shape == (60, 2)
    assert len(both.names) == len(summary.names)
    return float(model.coef_[0]), verdict.level
