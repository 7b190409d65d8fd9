"""The warnings of the library: one family, so that users can filter it as a whole."""


class UnshuffleWarning(UserWarning):
    """Anything the library warns about, except non-convergence.

    A fit that did not converge warns with scikit-learn's own
    ``ConvergenceWarning``, which users of scikit-learn already filter.
    """


class RankWarning(UnshuffleWarning):
    """Some columns of X are linear combinations of others (or constant)."""
