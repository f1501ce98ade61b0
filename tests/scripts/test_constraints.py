"""constraints.txt names the version of every package that an installation of the project needs."""

import re
from importlib.metadata import PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.support.runs import PROJECT

PINS = {
    canonicalize_name(name): Version(version)
    for name, version in re.findall(r"^([\w.-]+)==(\S+)$", (PROJECT / "constraints.txt").read_text(), re.MULTILINE)
}

"""Packages that are not installed with a CPU build of torch, so that the requirements of this one do not name them."""


def reachable(name: str, extras: frozenset[str], found: dict[str, set[frozenset[str]]]) -> None:
    """Add to `found` the installed packages that `name` with these extras needs."""
    name = canonicalize_name(name)
    try:
        requirements = distribution(name).requires or []
    except PackageNotFoundError:
        return
    if extras in found.setdefault(name, set()):
        return
    found[name].add(extras)
    for requirement in map(Requirement, requirements):
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in {"", *extras}):
            reachable(requirement.name, frozenset(requirement.extras), found)


def test_every_installed_package_that_the_project_needs_is_pinned() -> None:
    found: dict[str, set[frozenset[str]]] = {}
    reachable("selfplay", frozenset({"dev", "ray", "tensorboard", "adapters", "docs", "notebooks"}), found)
    assert len(found) > 50
    assert found.keys() - PINS.keys() - {"selfplay"} == set()


def test_installed_packages_satisfy_their_pins() -> None:
    found: dict[str, set[frozenset[str]]] = {}
    reachable("selfplay", frozenset({"dev"}), found)
    installed = {name: Version(distribution(name).version) for name in found.keys() & PINS.keys()}
    differing = {name for name, version in installed.items() if Version(version.public) != PINS[name]}
    assert differing == set()
