r"""Whether chains have mixed, and whether a sampler is calibrated: plain functions on arrays.

R-hat and effective sample sizes are those of Vehtari, Gelman, Simpson, Carpenter and Bürkner
("Rank-normalization, folding, and localization", Bayesian Analysis 2021). Chains are arrays of
shape (n_chains, n_draws). Every chain is split in halves, so that a drift shows as a disagreement;
draws are replaced by normal scores of their ranks,
:math:`\Phi^{-1}((r - 3/8) / (S + 1/4))`, so that heavy tails do no harm. The band around the
empirical distribution of ranks is that of Säilynoja, Bürkner and Vehtari ("Graphical test for
discrete uniformity", Statistics and Computing 2022).
"""

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from ..kernels.types import FloatArray

FEWEST_DRAWS = 4


def r_hat(chains: FloatArray) -> float:
    """Rank-normalised split R-hat: the larger of that of location and that of scale.

    It is near 1 where all chains agree; 1.01 is the usual limit. Chains that never move
    give nan.
    """
    halves = _halves(chains)
    folded = np.abs(halves - np.median(halves))
    return max(_plain_r_hat(_scores(halves)), _plain_r_hat(_scores(folded)))


def ess_bulk(chains: FloatArray) -> float:
    """Effective number of independent draws, for means and medians."""
    return _effective(_scores(_halves(chains)))


def ess_tail(chains: FloatArray) -> float:
    """Effective number of independent draws, for the ends of a 90 % interval."""
    halves = _halves(chains)
    ends = np.quantile(halves, [0.05, 0.95])
    return min(_effective((halves <= end).astype(np.float64)) for end in ends)


def _halves(chains: FloatArray) -> FloatArray:
    """Split every chain into its first and last half; an odd draw in the middle is left out."""
    chains = np.asarray(chains, dtype=np.float64)
    if chains.ndim != 2 or chains.shape[1] < FEWEST_DRAWS:
        raise ValueError(
            f"chains have shape {chains.shape}; give an array of shape (n_chains, n_draws) with at "
            f"least {FEWEST_DRAWS} draws"
        )
    half = chains.shape[1] // 2
    return np.concatenate([chains[:, :half], chains[:, -half:]])


def _scores(chains: FloatArray) -> FloatArray:
    ranks = rankdata(chains, method="average").reshape(chains.shape)
    scores: FloatArray = ndtri((ranks - 0.375) / (chains.size + 0.25))
    return scores


def _plain_r_hat(chains: FloatArray) -> float:
    n = chains.shape[1]
    between = float(chains.mean(axis=1).var(ddof=1))
    within = float(chains.var(axis=1, ddof=1).mean())
    if within == 0.0:
        return float("nan") if between == 0.0 else float("inf")
    return float(np.sqrt((n - 1) / n + between / within))


def _autocovariance(chains: FloatArray) -> FloatArray:
    """Of each chain at every lag, divided by the number of draws."""
    n = chains.shape[1]
    centred = chains - chains.mean(axis=1, keepdims=True)
    size = 1 << int(2 * n - 1).bit_length()
    spectrum = np.abs(np.fft.rfft(centred, size, axis=1)) ** 2
    covariance: FloatArray = np.fft.irfft(spectrum, size, axis=1)[:, :n] / n
    return covariance


def _effective(chains: FloatArray) -> float:
    """Number of draws over the sum of autocorrelations, cut by Geyer's monotone sequence."""
    m, n = chains.shape
    covariance = _autocovariance(chains).mean(axis=0)
    within = float(covariance[0]) * n / (n - 1.0)
    total = covariance[0] + (chains.mean(axis=1).var(ddof=1) if m > 1 else 0.0)
    if total <= np.finfo(float).tiny:
        return float("nan")
    correlation = 1.0 - (within - covariance) / total
    correlation[0] = 1.0
    # Sums over pairs of lags are positive and fall, for a reversible chain; noise ends that.
    pairs = correlation[: n - n % 2].reshape(-1, 2).sum(axis=1)
    ends = np.flatnonzero(pairs <= 0.0)
    # The last lags rest on a few products: a sequence that stays positive ends before them.
    longest = min(max((n - 3) // 2, 1), len(pairs))
    last = min(int(ends[0]), longest) if len(ends) else longest
    kept = np.minimum.accumulate(pairs[:last])
    # Half of the first lag that is left out: the estimate is better for nearly independent draws.
    rest = max(float(correlation[2 * last]), 0.0) if 2 * last < n else 0.0
    time = max(-1.0 + 2.0 * float(kept.sum()) + rest, 1.0 / float(np.log10(m * n)))
    return float(m * n / time)
