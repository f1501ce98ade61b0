"""The version of this project, and what pip calls it."""

from importlib.metadata import version

__version__ = "0.2.0"

DISTRIBUTION = "selfplay-boards"
"""The name in pyproject.toml. The distribution `selfplay` on the package index is another project."""


def recorded_versions(*packages: str) -> dict[str, str]:
    """The versions that files record, of this project and these packages, without the part that names a build.

    torch for the CPU, 2.13.0+cpu, and torch for GPUs then give the same bytes.
    """
    return {"selfplay": __version__, **{name: version(name).partition("+")[0] for name in packages}}
