"""Building the wheel of the project, and installing it."""

import os
import shutil
import subprocess
import sys
import venv
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support.runs import PROJECT

OLDEST_SETUPTOOLS = 77
"""The oldest version of setuptools that pyproject.toml accepts."""

LEFT_OUT = (".*", "__pycache__", "*.egg-info", "build", "outputs")


def require_build_tools() -> None:
    """Skip unless a wheel can be built with what is installed."""
    if find_spec("pip") is None:
        pytest.skip("pip is not installed in this environment")
    try:
        installed = version("setuptools")
    except PackageNotFoundError:
        pytest.skip("setuptools is not installed in this environment")
    if int(installed.split(".")[0]) < OLDEST_SETUPTOOLS:
        pytest.skip(f"setuptools {installed} is older than pyproject.toml requires")


def built_wheel(folder: Path) -> Path:
    """The wheel, built in this folder from a copy of the project; skips the test if that is not possible."""
    require_build_tools()
    source = folder / "source"
    shutil.copytree(PROJECT, source, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT))
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
    command = [*pip, "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder), str(source)]
    result = subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder)
    assert result.returncode == 0, result.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


def installed_wheel(wheel: Path, folder: Path) -> Path:
    """The command `selfplay` of an environment in this folder, with the wheel and the dependencies of this Python."""
    venv.create(folder / "venv", with_pip=False)
    (packages,) = (folder / "venv").glob("lib/python*/site-packages")
    # Not the .pth files in these folders, one of which adds the checkout.
    found = [entry for entry in sys.path if entry.endswith("-packages")]
    (packages / "dependencies.pth").write_text("\n".join(found))
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "venv" / "bin" / "python")]
    install = [*pip, "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(install, check=True, cwd=folder)
    return folder / "venv" / "bin" / "selfplay"


def plain_environment() -> dict[str, str]:
    """The variables of a shell in which no environment is active."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}


def install_entry_points(folder: Path, points: str) -> None:
    """Make `folder`, which is on the import path, one with an installed package that has these entry points."""
    metadata = folder / "outside-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(points)
