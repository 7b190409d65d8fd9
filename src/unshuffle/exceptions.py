"""The warnings of the library: one family, so that users can filter it as a whole."""


class UnshuffleWarning(UserWarning):
    """Anything the library warns about, except non-convergence.

    A fit that did not converge warns with scikit-learn's own
    ``ConvergenceWarning``, which users of scikit-learn already filter.
    """


class RankWarning(UnshuffleWarning):
    """Some columns of X are linear combinations of others (or constant)."""


class UnidentifiableWarning(UnshuffleWarning):
    """The data do not hold what it takes to tell the coefficients; the verdict is "reject"."""


class MixingWarning(UnshuffleWarning):
    """The chains of a posterior do not agree yet, or hold too few independent draws."""


class SchedulerLostError(ConnectionError):
    """The scheduler of a Dask cluster cannot be reached, or not any more."""
