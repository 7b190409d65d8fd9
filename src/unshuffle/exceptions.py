"""The warnings and errors of the library: one family each, so that users can filter them."""


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


class TableError(ValueError):
    """A file that cannot be read as a table without guessing; says which, where and why.

    Attributes
    ----------
    path : str
        The file.
    """

    def __init__(
        self, path: object, problem: str, *, place: str = "", column: str | None = None
    ) -> None:
        where = [str(path)] + [place] * bool(place)
        if column is not None:
            where.append(f"column {column!r}")
        super().__init__(f"{', '.join(where)}: {problem}")
        self.path = str(path)


class ModelFileError(ValueError):
    """A model file that is damaged, unsafe, or made by a newer version."""


class SchedulerLostError(ConnectionError):
    """The scheduler of a Dask cluster cannot be reached, or not any more."""
