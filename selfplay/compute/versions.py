"""The versions that must agree on all machines that compute parts of a run, so that it ends in the same bytes."""

import hashlib
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("numpy", "numba", "torch", "pyarrow")
"""The packages whose versions can change results."""


@cache
def sources_digest() -> str:
    """A digest of all sources of this project, in hexadecimal digits."""
    package = Path(__file__).parent.parent
    digest = hashlib.sha256()
    # In a checkout the architectures are a linked folder, which rglob does not enter.
    for source in sorted({*package.rglob("*.py"), *(package / "architectures").rglob("*.py")}):
        digest.update(str(source.relative_to(package)).encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()


@cache
def versions() -> dict[str, str]:
    """The versions of Python, of this project (with a digest of its sources) and of PACKAGES."""
    own = {"python": platform.python_version(), "selfplay": f"{version('selfplay')} ({sources_digest()[:12]})"}
    return own | {name: version(name) for name in PACKAGES}
