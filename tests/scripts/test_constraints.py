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

NEEDED_BY_TORCH_FROM_PYPI = {
    *("cuda-bindings", "cuda-pathfinder", "cuda-toolkit", "triton"),
    *("nvidia-cublas", "nvidia-cuda-cupti", "nvidia-cuda-nvrtc", "nvidia-cuda-runtime", "nvidia-cudnn-cu13"),
    *("nvidia-cufft", "nvidia-cufile", "nvidia-curand", "nvidia-cusolver", "nvidia-cusparse"),
    *("nvidia-cusparselt-cu13", "nvidia-nccl-cu13", "nvidia-nvjitlink", "nvidia-nvshmem-cu13", "nvidia-nvtx"),
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


def test_packages_of_torch_on_gpus_are_pinned() -> None:
    assert PINS.keys() >= NEEDED_BY_TORCH_FROM_PYPI
    assert PINS["torch"] == Version("2.13.0")


def test_every_line_is_a_comment_or_an_exact_version() -> None:
    lines = (PROJECT / "constraints.txt").read_text().splitlines()
    assert len(PINS) == sum(not line.startswith("#") for line in lines)
