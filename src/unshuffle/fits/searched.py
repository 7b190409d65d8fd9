"""What a search found, as a fit reports it."""

import numpy as np

from ..search.landscape import Landscape
from ..search.lost import Finding
from .auto_results import SearchFit


def search_fit(finding: Finding, searched: Landscape, n_rows: int) -> SearchFit:
    """Matches in the units of a table of `n_rows` rows; `searched` may be a sample of these."""
    found, n_searched = finding.search, searched.problem.n_rows
    whole = n_searched == n_rows  # a proof for a sample is none for the table
    return SearchFit(
        solutions=np.array([searched.state(theta).coef for theta in found.thetas]),
        objectives=found.objectives * (n_rows / n_searched),
        certified=finding.certified and whole,
        lower_bound=finding.lower_bound if whole else 0.0,
        score=finding.score,
        null_scores=finding.nulls,
        p_value=finding.p_value,
        n_candidates=found.n_candidates,
        n_found=int(found.n_found[0]),
        stopped_by=found.stopped_by,
    )
