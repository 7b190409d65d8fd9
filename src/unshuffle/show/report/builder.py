"""From a fitted model to one self-contained page."""

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

from ... import __version__
from ...io.files import write_atomically
from ...io.marks import is_page_by
from ...io.outputs import FileKind
from ..markup import text
from ..plots._fitted import check_fitted, names_of
from ..settings import SHOW, ShowSettings
from . import sections
from .code import repeating_code
from .facts import DataFacts, facts_of
from .review import Review, review
from .rows import rows_of
from .sensitivity import sensitivity

TITLE = "Regression with shuffled labels"
REPORT = FileKind("a report", is_page_by("unshuffle report"))


def build_report(
    model: Any,
    *,
    data: DataFacts | None = None,
    settings: Mapping[str, object] | None = None,
    code: str | None = None,
    title: str = TITLE,
    limits: ShowSettings = SHOW,
    id: Sequence[object] | None = None,
) -> str:
    """One page about a fit: verdict, coefficients, rows to decide about, figures, data, code.

    The page loads nothing from a network, has a light and a dark theme, and prints. Long tables
    are cut so that it stays below one megabyte; a note above such a table says so. Where labels
    were given beside rows, people can mark them right, wrong or unsure in the page, and download
    what they decided as ``reviewed.csv``, which ``unshuffle fit --reviewed`` takes.

    Parameters
    ----------
    model : estimator
        Any fitted estimator of this package; only `ShuffledRegressor` has a verdict.
    data : DataFacts, optional
        Facts about the data; what the model knows of them by default.
    settings : dict, optional
        Further settings by name: options of a command line, for example.
    code : str, optional
        Python that repeats the fit; by default a template made from the model.
    title : str
        Heading.
    limits : ShowSettings
        Most rows of each table, and most coefficients and points in figures.
    id : sequence, optional
        Names of the rows, in place of `data.row_names`.

    Returns
    -------
    page : str
        HTML.

    Examples
    --------
    >>> from unshuffle import ShuffledRegressor
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> from unshuffle.show.report import build_report
    >>> data = make_shuffled_regression(100, 2, shuffle="fraction", random_state=0)
    >>> model = ShuffledRegressor(random_state=0).fit(data.X, data.y)
    >>> "all checks passed" in build_report(model)
    True
    """
    check_fitted(model)
    names, rows = names_of(model), rows_of(model)
    found = facts_of(model, names, rows.n_known)
    if data is None:
        data = found
    elif data.n_rows != found.n_rows:
        raise ValueError(
            f"data has {data.n_rows} rows but the model was fitted to {found.n_rows}; count only "
            "the rows of the fit"
        )
    if id is not None:
        data = replace(data, row_names=list(id))
    reviewed = hasattr(model, "match_proba_") and not hasattr(model, "unmatched_rows_")
    script = _script(reviewed)
    if reviewed:
        matched = review(model, data, rows, limits)
    else:
        matched = Review(sections.matches(model, data, rows, limits), "")
    exchanged = sensitivity(model, limits)
    return _fill(
        _resource("page.html"),
        {
            "hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            "title": text(title, 300),
            "source": text(data.source or type(model).__name__, 300),
            "version": text(__version__),
            "style": _resource("page.css"),
            "script": script,
            "verdict": sections.verdict(model, matched.lead),
            "coefficients": sections.coefficients(model, names, limits),
            "sensitivity": exchanged.section,
            "sensitivity_link": exchanged.link,
            "pictures": sections.pictures(model, data, rows, limits),
            "matches": matched.section,
            "matches_title": "Review" if reviewed else "Matches",
            "data": sections.data_facts(data, limits),
            "settings": sections.settings(model, settings),
            "code": sections.code(repeating_code(model, data) if code is None else code),
        },
    )


def write_report(path: str | PathLike[str], model: Any, **arguments: Any) -> Path:
    """Write `build_report(model, **arguments)` to a file.

    Parameters
    ----------
    path : path-like
        Where; an existing file is replaced in one step, so that no partial report is ever left.
    model : estimator
        A fitted estimator.
    **arguments
        As for `build_report`.

    Returns
    -------
    path : pathlib.Path
        The file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from unshuffle import ShuffledRegressor
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> from unshuffle.show.report import write_report
    >>> data = make_shuffled_regression(100, 2, shuffle="fraction", random_state=0)
    >>> model = ShuffledRegressor(random_state=0).fit(data.X, data.y)
    >>> with TemporaryDirectory() as folder:
    ...     written = write_report(f"{folder}/report.html", model)
    >>> written.name
    'report.html'
    """
    written = Path(path)
    write_atomically(written, build_report(model, **arguments).encode())
    return written


def _script(reviewed: bool) -> str:
    """The script of the page; what reviews rows stands in files of its own."""
    names = ["page.js", *(["review_state.js", "review.js", "plate.js"] if reviewed else [])]
    return "\n".join(_resource(name) for name in names)


def _resource(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8").strip()


def _fill(template: str, parts: Mapping[str, str]) -> str:
    """Replace each placeholder once; what looks like one in the data stays as it is."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template) + "\n"
