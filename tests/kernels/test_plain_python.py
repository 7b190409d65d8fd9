import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("plain_against_compiled.py")


def digest(**environment):
    done = subprocess.run(
        [sys.executable, str(SCRIPT)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(done.stdout) == 64
    return done.stdout


@pytest.mark.long
def test_compiled_and_plain_python_agree_bit_for_bit():
    assert digest(NUMBA_DISABLE_JIT="1") == digest(NUMBA_DISABLE_JIT="0")
