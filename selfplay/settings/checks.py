"""Checks that settings share. Each raises SettingError with a message of one line."""

from collections.abc import Sequence
from importlib.util import find_spec

from selfplay.errors import SettingError
from selfplay.settings.folders import PROJECT_FOLDER


def require(name: str, value: object, valid: bool, allowed: str) -> None:
    """Raise SettingError, naming the setting and what is allowed, unless its value is valid."""
    if not valid:
        raise SettingError(f"{name}={value}: must be {allowed}")


def require_package(setting: str, package: str) -> None:
    """Raise SettingError, saying how to install it, if an optional package that a setting needs is not installed."""
    spec = find_spec(package)
    # A folder with the same name, such as that of a run, would be found as a package without a file.
    if spec is None or spec.origin is None:
        raise SettingError(
            f"{setting} needs the package {package}, which is not installed; "
            f"run pip install -e '.[{package}]' in {PROJECT_FOLDER}"
        )


def require_rates(name: str, rates: Sequence[float]) -> None:
    """Raise SettingError unless `rates` is a list of one or more numbers between 0 and 1."""
    valid = len(rates) > 0 and all(0 <= rate <= 1 for rate in rates)
    require(name, list(rates), valid, "one or more rates between 0 and 1")
