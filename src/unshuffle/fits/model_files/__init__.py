"""Fitted models as files that hold no code and none of the rows."""

from .load import load_model, model_files
from .save import save_model, write_model
from .stored import StoredModel

__all__ = ["StoredModel", "load_model", "model_files", "save_model", "write_model"]
