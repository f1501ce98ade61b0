"""constraints.txt names the version of every package that an installation of the project needs."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from itertools import chain

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from selfplay.installation import DISTRIBUTION
from tests.support.runs import PROJECT

PINS = {
    canonicalize_name(name): Version(version)
    for name, version in re.findall(r"^([\w.-]+)==(\S+)$", (PROJECT / "constraints.txt").read_text(), re.MULTILINE)
}

"""Packages that are not installed with a CPU build of torch, so that the requirements of this one do not name them."""

ADAPTERS = ("gymnasium", "onnx", "openspiel", "pettingzoo")


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
    reachable(DISTRIBUTION, frozenset({"dev", "ray", "tensorboard", "adapters", "docs", "notebooks"}), found)
    assert len(found) > 50
    assert found.keys() - PINS.keys() - {DISTRIBUTION} == set()


def test_the_requirements_with_hashes_are_those_of_constraints_and_complete() -> None:
    lines = (PROJECT / "requirements_with_hashes.txt").read_text().replace(" \\\n", " ").splitlines()
    hashed = dict[str, Version]()
    for line in lines:
        if (found := re.match(r"([\w.-]+)==([^ ;]+)( ; [^-]+)?( +--hash=sha256:[0-9a-f]{64})+$", line)) is not None:
            hashed[canonicalize_name(found[1])] = Version(found[2])
        else:
            assert line.startswith("#"), line
    remedy = lines[1].removeprefix("#    ")
    assert remedy.startswith("uv pip compile pyproject.toml --extra page --constraints constraints.txt")
    assert {name: version for name, version in hashed.items() if PINS.get(name) != version} == {}, remedy
    needed: dict[str, set[frozenset[str]]] = {}
    reachable(DISTRIBUTION, frozenset({"page"}), needed)
    assert needed.keys() - hashed.keys() == {DISTRIBUTION}, remedy


def test_installed_packages_satisfy_their_pins() -> None:
    found: dict[str, set[frozenset[str]]] = {}
    reachable(DISTRIBUTION, frozenset({"dev"}), found)
    installed = {name: Version(distribution(name).version) for name in found.keys() & PINS.keys()}
    differing = {name for name, version in installed.items() if Version(version.public) != PINS[name]}
    assert differing == set()


def test_the_program_imports_only_packages_that_are_installed_with_it_or_with_an_extra() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    extras = (project["optional-dependencies"][name] for name in ("page", "ray", "tensorboard", *ADAPTERS))
    found: dict[str, set[frozenset[str]]] = {}
    for requirement in map(Requirement, [*project["dependencies"], *chain(*extras)]):
        found[canonicalize_name(requirement.name)] = set()
        reachable(requirement.name, frozenset(), found)
    owners = {package: names for package, names in packages_distributions().items() if package != "selfplay"}
    for path in [path for folder in ("selfplay", "architectures") for path in (PROJECT / folder).rglob("*.py")]:
        for name in re.findall(r"^ *(?:import (\w+)|from (\w+)[\w.]* import )", path.read_text(), re.MULTILINE):
            owned_by = {canonicalize_name(owner) for owner in owners.get("".join(name), ())}
            assert not owned_by or owned_by & found.keys(), f"{path} imports {name}"
