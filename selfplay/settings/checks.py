"""Checks that settings share. Each raises SettingError with a message of one line."""

from collections.abc import Sequence
from importlib.util import find_spec
from math import isfinite

from selfplay.errors import SettingError, shortened
from selfplay.settings.folders import IS_CHECKOUT, PROJECT_FOLDER

LARGEST_COUNT = 10**9
"""The largest number of levels, matches, epochs and the like: more would not end."""


def require(name: str, value: object, valid: bool, allowed: str) -> None:
    """Raise SettingError, naming the setting and what is allowed, unless its value is valid."""
    if not valid:
        raise SettingError(f"{name}={shortened(value)}: must be {allowed}")


def require_count(name: str, value: int | None, least: int, *, or_null: bool = False) -> None:
    """Raise SettingError unless `value` is from `least` to LARGEST_COUNT, or None where `or_null`."""
    if value is None and or_null:
        return
    # The value itself is not shown: it may have thousands of digits.
    if value is not None and value > LARGEST_COUNT:
        raise SettingError(f"{name}: must be at most {LARGEST_COUNT:,}")
    require(name, value, value is not None and value >= least, f"{least} or more{', or null' if or_null else ''}")


def require_number(name: str, value: float, least: float) -> None:
    """Raise SettingError unless `value` is a finite number of at least `least`."""
    require(name, value, isfinite(value) and value >= least, f"{least} or more")


def require_above_0(name: str, value: float) -> None:
    """Raise SettingError unless `value` is a finite number above 0."""
    require(name, value, isfinite(value) and value > 0, "above 0")


def require_package(user: str, package: str, extra: str | None = None) -> None:
    """Raise SettingError, saying how to install it, if an optional package is not installed.

    Args:
        user: what needs the package, such as a setting.
        extra: the optional dependencies of this project that contain the package; None: they have its name.
    """
    spec = find_spec(package)
    # A folder with the same name, such as that of a run, would be found as a package without a file.
    if spec is None or spec.origin is None:
        raise SettingError(
            f"{user} needs the package {package}, which is not installed; run {_installation(extra or package)}"
        )


def _installation(extra: str) -> str:
    if IS_CHECKOUT:
        return f"pip install -e '.[{extra}]' in {PROJECT_FOLDER}"
    return f"pip install 'selfplay[{extra}]'"


def require_rates(name: str, rates: Sequence[float]) -> None:
    """Raise SettingError unless `rates` is a list of one or more numbers between 0 and 1."""
    valid = len(rates) > 0 and all(0 <= rate <= 1 for rate in rates)
    require(name, list(rates), valid, "one or more rates between 0 and 1")
