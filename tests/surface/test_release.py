"""What is published: the archive of sources, the wheel, and what a user gets from it."""

import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import unshuffle

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "unshuffle"
pytestmark = pytest.mark.long


def run(*arguments, **more):
    done = subprocess.run(
        [str(a) for a in arguments], capture_output=True, text=True, check=False, **more
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Archive and wheel, the wheel made from the archive."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    return next(folder.glob("*.tar.gz")), next(folder.glob("*.whl"))


def shipped():
    """Files of the package that are not made by Python."""
    return {
        path.relative_to(PACKAGE.parent).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and path.suffix not in {".nbi", ".nbc"}
    }


def test_the_wheel_holds_the_package_and_nothing_else(built):
    with zipfile.ZipFile(built[1]) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert names == shipped()
    assert "unshuffle/py.typed" in names
    assert f"-{unshuffle.__version__}-" in built[1].name


def test_the_archive_holds_sources_and_tests_and_no_data_of_others(built):
    with tarfile.open(built[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "CITATION.cff", "CHANGELOG.md"} <= names
    assert {f"src/{name}" for name in shipped()} <= names
    assert not [name for name in names if ".venv" in name or "__pycache__" in name]


def test_the_wheel_works_where_it_is_installed(built, tmp_path):
    """Dependencies come from this environment; the package itself from the wheel alone."""
    venv.create(tmp_path / "env", with_pip=False)
    python = tmp_path / "env" / "bin" / "python"
    site = Path(run(python, "-c", "import site; print(site.getsitepackages()[0])").strip())
    with zipfile.ZipFile(built[1]) as wheel:
        wheel.extractall(site)
    depends = site / "dependencies.pth"
    depends.write_text(sysconfig.get_paths()["purelib"])
    code = (
        "import unshuffle, numpy as np; from importlib.metadata import version\n"
        "X = np.arange(20.0).reshape(10, 2) ** 0.5; y = X @ [1, 2] + np.arange(10) % 3\n"
        "m = unshuffle.ShuffledRegressor(pairing='known').fit(X, y)\n"
        "print(unshuffle.__file__, version('unshuffle'), '</html>' in unshuffle.report.build_report(m))"
    )
    told = run(python, "-c", code, cwd=tmp_path)
    assert told.split() == [
        str(site / "unshuffle" / "__init__.py"), unshuffle.__version__, "True",
    ]  # fmt: skip
    assert "fit" in run(python, "-m", "unshuffle", "--help", cwd=tmp_path)
