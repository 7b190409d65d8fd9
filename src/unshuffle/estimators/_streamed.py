"""What a fit that reads its data in passes does not keep."""

from typing import Any

from ..fits.results import StochasticFit

PER_ROW = {"expected_labels_", "permutation_", "match_proba_"}


class StreamedAttributes:
    """Name the attributes per row that such a fit lacks, and what to do."""

    def __getattr__(self, name: str) -> Any:
        found = vars(self).get("_found")
        if name in PER_ROW and isinstance(found, StochasticFit) and found.matches is None:
            raise AttributeError(
                "a fit that reads its data in passes keeps nothing per row, so that there is no "
                f"{name}; predict works as ever, and a fit of some groups in memory from these "
                "coefficients (init) gives their matches"
            )
        return object.__getattribute__(self, name)  # raises what led here
