"""The version of this project, and what pip calls it."""

__version__ = "0.2.0"

DISTRIBUTION = "selfplay-boards"
"""The name in pyproject.toml. The distribution `selfplay` on the package index is another project."""
