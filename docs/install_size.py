"""Print what an installation takes on disk: the package, and what it needs.

Usage: python -m docs.install_size, from the root of the project, where the package is installed.
The sizes in docs/start.md are from it, and a test compares them.
"""

import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

NAME = "unshuffle"
PACKAGE = Path(__file__).parents[1] / "src" / NAME
MEGABYTE = 1e6


def package_bytes() -> int:
    """Files of the package itself, without what Python and Numba cache beside them."""
    return sum(
        path.stat().st_size
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )


def needed(name: str = NAME) -> dict[str, Distribution]:
    """Distributions that an installation without extras brings along, by name."""
    found: dict[str, Distribution] = {}
    open_names = [name]
    while open_names:
        for line in distribution(open_names.pop()).requires or ():
            requirement = Requirement(line)
            title = canonicalize_name(requirement.name)
            if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
                continue
            if title not in found:
                found[title] = distribution(title)
                open_names.append(title)
    return found


def bytes_of(installed: Distribution) -> int:
    """Size of the files that a distribution has brought."""
    paths = (Path(str(file.locate())) for file in installed.files or ())
    return sum(path.stat().st_size for path in paths if path.is_file())


def sizes() -> dict[str, float]:
    """Megabytes of the package and of each distribution it needs, the largest first."""
    others = {name: bytes_of(found) / MEGABYTE for name, found in needed().items()}
    ordered = sorted(others.items(), key=lambda item: -item[1])
    return {NAME: package_bytes() / MEGABYTE, **dict(ordered)}


def main() -> None:
    """Print a table in megabytes."""
    try:
        found = sizes()
    except PackageNotFoundError as error:
        sys.exit(f"install the package first, for example by `make demo`: {error} is missing")
    for name, size in found.items():
        print(f"{name:20}{size:8.1f} MB")
    rest = sum(size for name, size in found.items() if name != NAME)
    print(f"{'what it needs':20}{rest:8.1f} MB")


if __name__ == "__main__":
    main()
