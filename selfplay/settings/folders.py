"""The folders of the package, of the project and of the configuration files."""

from pathlib import Path

from omegaconf import OmegaConf

PACKAGE_FOLDER = Path(__file__).resolve().parents[1]
PROJECT_FOLDER = PACKAGE_FOLDER.parent
"""The checkout that the package is installed from."""
CONFIG_FOLDER = PACKAGE_FOLDER / "conf"

OmegaConf.register_new_resolver("project_folder", lambda: str(PROJECT_FOLDER), replace=True)
