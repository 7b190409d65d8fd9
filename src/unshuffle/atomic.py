"""Files that are whole or not there."""

import os
from pathlib import Path


def write_atomically(path: Path, content: bytes) -> None:
    """Write next to `path`, then rename: a kill leaves the old file or the new one."""
    part = path.with_name(f".part.{os.getpid()}.{path.name}")
    try:
        part.write_bytes(content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
