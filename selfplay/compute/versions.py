"""The versions that results and machine code depend on: of Python, of packages and of the sources of this project."""

import hashlib
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

from selfplay.installation import __version__

PACKAGE = Path(__file__).parent.parent

PACKAGES = ("numpy", "numba", "torch", "pyarrow")
"""The packages whose versions can change results."""

SOURCES_OF_COMPILER = ("compute", "code_identity")
"""The packages that machine code depends on although functions do not refer to them: what
extends numba, and what finds out what functions refer to."""


@cache
def sources_digest() -> str:
    """A digest of all sources of this project, in hexadecimal digits."""
    return _digest_of(_sources())


@cache
def compiler_digest() -> str:
    """A digest of what all compiled functions depend on, in hexadecimal digits: the compiler, and the sources of this
    project that extend it."""
    sources = [source for source in _sources() if source.parts[0] in SOURCES_OF_COMPILER]
    compiler = [platform.python_version(), *map(version, ("numba", "llvmlite", "numpy"))]
    return hashlib.sha256(repr((compiler, _digest_of(sources))).encode()).hexdigest()


def _sources() -> list[Path]:
    """The sources of this project, relative to the package."""
    # In a checkout the architectures are a linked folder, which rglob does not enter.
    found = {*PACKAGE.rglob("*.py"), *(PACKAGE / "architectures").rglob("*.py")}
    return sorted(path.relative_to(PACKAGE) for path in found)


def _digest_of(sources: list[Path]) -> str:
    digest = hashlib.sha256()
    for source in sources:
        digest.update(str(source).encode() + b"\0" + (PACKAGE / source).read_bytes())
    return digest.hexdigest()


@cache
def versions() -> dict[str, str]:
    """The versions that must agree on all machines that compute parts of a run, so that it ends in the same bytes:
    those of Python, of this project (with a digest of its sources) and of PACKAGES."""
    own = {"python": platform.python_version(), "selfplay": f"{__version__} ({sources_digest()[:12]})"}
    return own | {name: version(name) for name in PACKAGES}
