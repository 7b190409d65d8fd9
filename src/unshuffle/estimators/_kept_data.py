"""Data that a fit keeps for what resamples them; they stay out of files."""


def require_kept(model: object, name: str) -> None:
    """Refuse a model that was loaded from a file and so lacks its data."""
    if not hasattr(model, name):
        raise ValueError(
            f"this {type(model).__name__} was loaded from a file, which does not hold the data of "
            "the fit; fit it again first"
        )
