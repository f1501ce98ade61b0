"""The folders of the package, of the project and of the configuration files."""

from pathlib import Path

from omegaconf import OmegaConf

PACKAGE_FOLDER = Path(__file__).resolve().parents[1]
IS_CHECKOUT = (PACKAGE_FOLDER.parent / "pyproject.toml").is_file()
"""Whether the package is used from a checkout of the repository, and not installed as a copy."""
PROJECT_FOLDER = PACKAGE_FOLDER.parent if IS_CHECKOUT else Path.cwd()
"""The checkout that the package is used from; the current folder if there is none. Runs are below its outputs/."""
RUNS_FOLDER = PROJECT_FOLDER / "outputs"
"""The folder of the runs if run_dir is not set; each run has a folder named after its game."""
CONFIG_FOLDER = PACKAGE_FOLDER / "conf"

OmegaConf.register_new_resolver("runs_folder", lambda: str(RUNS_FOLDER), replace=True)
