"""The warnings and errors of the library, one base class each, so that users can filter them."""

import errno
from typing import NamedTuple


class UnshuffleWarning(UserWarning):
    """Base class of the library's warnings, except non-convergence.

    A fit that did not converge warns with scikit-learn's own
    ``ConvergenceWarning``, which users of scikit-learn already filter.
    """


class RankWarning(UnshuffleWarning):
    """Some columns of X are linear combinations of others (or constant)."""


class UnidentifiableWarning(UnshuffleWarning):
    """The data do not determine the coefficients: the verdict is "reject", or nothing is known."""


class MixingWarning(UnshuffleWarning):
    """The chains of a posterior have not converged, or their effective sample size is too small."""


class Problem(NamedTuple):
    """What is wrong with a table, and what to do about it.

    Attributes
    ----------
    found : str
    advice : str
    role : str
        See `TableError`.
    """

    found: str
    advice: str = ""
    role: str = ""

    def __str__(self) -> str:
        return f"{self.found}; {self.advice}" if self.advice else self.found


class TableError(ValueError):
    """A file that cannot be read as a table without guessing; names the file, place and problem.

    Attributes
    ----------
    path : str
        The file.
    role : str
        What has to be declared otherwise ("label", "features", "categorical", "excluded"), or what
        is wrong with the rows ("missing", "number", "letters", "size"), so that whoever asked for
        the table can say what to do. Empty where neither is known.
    problem : Problem
    """

    def __init__(
        self,
        path: object,
        problem: "str | Problem",
        *,
        place: str = "",
        column: str = "",
        role: str = "",
    ) -> None:
        self.problem = problem if isinstance(problem, Problem) else Problem(problem)
        self._where = ", ".join(filter(None, (str(path), place, column and f"column {column!r}")))
        super().__init__(f"{self._where}: {self.problem}")
        self.path = str(path)
        self.role = role or self.problem.role

    def advise(self, advice: str) -> "TableError":
        """The same error with another advice."""
        return TableError(self._where, Problem(self.problem.found, advice))


class ModelFileError(ValueError):
    """A model file that is damaged, unsafe, or written by a newer version."""


class OutputError(FileExistsError):
    """An output that would replace something which is not ours, or which is read by the same call.

    Attributes
    ----------
    filename : str
        The output.
    forcible : bool
        Whether the user may ask for it to be replaced nevertheless.
    """

    def __init__(self, path: object, problem: str, *, forcible: bool = False) -> None:
        super().__init__(errno.EEXIST, problem, str(path))
        self.forcible = forcible


class SchedulerLostError(ConnectionError):
    """The scheduler of a Dask cluster cannot be reached, or the connection was lost."""


class WorkerLostError(ConnectionError):
    """The workers of a Dask cluster have too little memory, or died during a fit."""
