"""The installed packages that code belongs to, which count by their versions, and files of machine code."""

import hashlib
import sys
import sysconfig
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from platform import python_version

PACKAGE = Path(__file__).parent.parent.name
STDLIB = sysconfig.get_path("stdlib")

_described_in_full = {PACKAGE, "__main__"}


def describe_in_full(module: str) -> None:
    """Describe the code of this module's package even where it is installed: it may change without a new version. That
    of Python does not."""
    if (package := package_of(module)) not in (_described_in_full | sys.stdlib_module_names):
        _described_in_full.add(package)
        installed_version.cache_clear()


def package_of(module: str) -> str:
    """The top-level package of a module."""
    return module.partition(".")[0]


@cache
def installed_version(module: str) -> str | None:
    """The version of the package of a module, or of Python; None for other code, which is described."""
    package = package_of(module)
    if package in _described_in_full:
        return None
    try:
        spec = find_spec(package)
    except ValueError:  # a module that was made by hand
        return None
    places = [] if spec is None else [spec.origin or "", *(spec.submodule_search_locations or ())]
    if any({"site-packages", "dist-packages"} & set(Path(place).parts) for place in places):
        try:
            return version(package)
        except PackageNotFoundError:
            return " ".join(version(name) for name in packages_distributions().get(package, ()))
    is_of_python = {"built-in", "frozen"} & set(places) or any(Path(place).is_relative_to(STDLIB) for place in places)
    return python_version() if is_of_python else None


def digest_of_module(name: str) -> str:
    """The SHA-256 of the file of a module in machine code that belongs to no installed package; empty for others."""
    file = str(getattr(sys.modules.get(name), "__file__", None) or "")
    is_described = file.endswith(tuple(EXTENSION_SUFFIXES)) and installed_version(name) is None
    return digest_of_file(file) if is_described else ""


def digest_of_file(path: str) -> str:
    """The SHA-256 of a file; empty if there is no file of this name, as for a library that the system finds."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest() if path and Path(path).is_file() else ""
