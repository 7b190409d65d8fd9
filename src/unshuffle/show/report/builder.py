"""From a fitted model to one self-contained page."""

import base64
import hashlib
import re
from collections.abc import Mapping
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ... import __version__
from ...io.files import write_atomically
from . import sections
from .facts import DataFacts, facts_of
from .markup import text

TITLE = "Regression with shuffled labels"


def build_report(
    model: Any,
    *,
    data: DataFacts | None = None,
    settings: Mapping[str, object] | None = None,
    code: str | None = None,
    title: str = TITLE,
) -> str:
    """One page about a fit: verdict, coefficients, pictures, matches, data, settings, code.

    The page asks for nothing from a network, has a light and a dark face, and prints. Tables are
    limited so that it stays below one megabyte; it says so where they are.

    Parameters
    ----------
    model : estimator
        Any fitted estimator of this package; only `ShuffledRegressor` has a verdict.
    data : DataFacts, optional
        The data as they were understood; what the model knows of them by default.
    settings : dict, optional
        Whatever else was set, by name: options of a command line, for example.
    code : str, optional
        Python that repeats the fit; a sketch by default.
    title : str
        Heading.

    Returns
    -------
    page : str
        HTML.

    Examples
    --------
    >>> from unshuffle import ShuffledRegressor
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> from unshuffle.report import build_report
    >>> data = make_shuffled_regression(100, 2, shuffle="fraction", random_state=0)
    >>> model = ShuffledRegressor(random_state=0).fit(data.X, data.y)
    >>> "Do not use" in build_report(model)
    False
    """
    check_is_fitted(model)
    found = getattr(model, "feature_names_in_", None)
    names = [f"x{j}" for j in range(len(model.coef_))] if found is None else [str(n) for n in found]
    told = facts_of(model, names)
    if data is None:
        data = told
    elif data.n_rows != told.n_rows:
        raise ValueError(
            f"data says {data.n_rows} rows but the model was fitted to {told.n_rows}; count the "
            "rows of the fit, after what was left out"
        )
    script = _resource("page.js")
    return _fill(
        _resource("page.html"),
        {
            "hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            "title": text(title, 300),
            "source": text(data.source or type(model).__name__, 300),
            "version": text(__version__),
            "style": _resource("page.css"),
            "script": script,
            "verdict": sections.verdict(model),
            "coefficients": sections.coefficients(model, names),
            "pictures": sections.pictures(model, data),
            "matches": sections.matches(model, data),
            "data": sections.understood(data),
            "settings": sections.settings(model, settings),
            "code": sections.code(model, code),
        },
    )


def write_report(path: str | PathLike[str], model: Any, **arguments: Any) -> Path:
    """Write `build_report(model, **arguments)` to a file.

    Parameters
    ----------
    path : path-like
        Where; an older file is replaced in one step, so that there is never half a report.
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
    >>> from unshuffle.report import write_report
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


def _resource(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8").strip()


def _fill(template: str, parts: Mapping[str, str]) -> str:
    """Fill every place once; what looks like a place in the data stays as it is."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template) + "\n"
