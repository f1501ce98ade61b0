"""How this project is installed: its version, its folder, and the packages that it uses if they are installed."""

import shlex
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from selfplay.errors import SettingError

__version__ = "0.3.0"

DISTRIBUTION = "selfplay-boards"
"""The name in pyproject.toml. The distribution `selfplay` on the package index is another project."""

PACKAGE_FOLDER = Path(__file__).resolve().parent
IS_CHECKOUT = (PACKAGE_FOLDER.parent / "pyproject.toml").is_file()
"""Whether the package is used from a checkout of the repository, and not installed as a copy."""


def recorded_versions(*packages: str) -> dict[str, str]:
    """The versions that files record, of this project and these packages, without the part that names a build.

    torch for the CPU, 2.13.0+cpu, and torch for GPUs then give the same bytes.
    """
    return {"selfplay": __version__, **{name: version(name).partition("+")[0] for name in packages}}


def require_package(user: str, package: str, extra: str | None = None) -> None:
    """Raise SettingError, saying how to install it, if an optional package is not installed.

    Args:
        user: what needs the package, such as a setting.
        extra: the optional dependencies of this project that contain the package; None: they have its name.
    """
    spec = find_spec(package)
    # A folder with the same name, such as that of a run, would be found as a package without a file.
    if spec is None or spec.origin is None:
        raise SettingError(
            f"{user} needs the package {package}, which is not installed; run {installation(extra or package)}"
        )


def installation(extra: str) -> str:
    """The command that installs an extra of this project into the environment of this Python, from any folder."""
    what = f"-e {shlex.quote(f'{PACKAGE_FOLDER.parent}[{extra}]')}" if IS_CHECKOUT else f"'{DISTRIBUTION}[{extra}]'"
    return f"{shlex.quote(sys.executable)} -m pip install {what}"
