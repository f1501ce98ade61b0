"""The versions that must agree on all machines that compute parts of a run, so that it ends in the same bytes."""

import hashlib
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

PACKAGE = Path(__file__).parent.parent

PACKAGES = ("numpy", "numba", "torch", "pyarrow")
"""The packages whose versions can change results."""


FOLDERS_WITHOUT_COMPILED_CODE = ("cli", "adapters", "web", "stages", "playing", "figures", "grading")
"""The folders of this package whose sources no compiled function depends on: no other folder imports from them."""


@cache
def sources_digest() -> str:
    """A digest of all sources of this project, in hexadecimal digits."""
    return _digest_of(_sources())


@cache
def compiled_sources_digest() -> str:
    """A digest of the sources that compiled functions can depend on, in hexadecimal digits."""
    return _digest_of([path for path in _sources() if path.parts[0] not in FOLDERS_WITHOUT_COMPILED_CODE])


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
    """The versions of Python, of this project (with a digest of its sources) and of PACKAGES."""
    own = {"python": platform.python_version(), "selfplay": f"{version('selfplay')} ({sources_digest()[:12]})"}
    return own | {name: version(name) for name in PACKAGES}
