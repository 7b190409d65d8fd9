"""Fitted models as files that hold no code and none of the rows.

What loads models is imported when it is first used, because commands need the kinds of files at
once, and the libraries of a fit perhaps never.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .load import load_model, model_files
    from .save import save_model, write_model
    from .stored import StoredModel

_HOMES = {
    "StoredModel": "stored",
    "load_model": "load",
    "model_files": "load",
    "save_model": "save",
    "write_model": "save",
}

__all__ = ["StoredModel", "load_model", "model_files", "save_model", "write_model"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
