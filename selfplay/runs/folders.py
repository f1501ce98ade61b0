"""The folders of the package, of the project and of the configuration files."""

from pathlib import Path

from selfplay.installation import IS_CHECKOUT, PACKAGE_FOLDER

PROJECT_FOLDER = PACKAGE_FOLDER.parent if IS_CHECKOUT else Path.cwd()
"""The checkout that the package is used from; the current folder if there is none. Runs are below its outputs/."""
RUNS_FOLDER = PROJECT_FOLDER / "outputs"
"""The folder of the runs if run_dir is not set; each run has a folder named after its game."""
CONFIG_FOLDER = PACKAGE_FOLDER / "conf"
