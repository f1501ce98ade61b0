"""Errors that the user can fix, including those of Hydra and OmegaConf: the line to print and the exit code."""

from selfplay.errors import SelfPlayError, SettingError


def user_errors() -> tuple[type[Exception], ...]:
    """The errors for which one line is enough; all others are bugs of the program."""
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    return (SelfPlayError, HydraException, OmegaConfBaseException, OSError)


def line_and_code(error: Exception) -> tuple[str, int]:
    """The line to print and the exit code for one of `user_errors`."""
    from hydra.errors import HydraException

    from selfplay.settings.config_errors import one_line

    if isinstance(error, SelfPlayError):
        return str(error), error.exit_code
    # Hydra also raises an OSError for an unknown option of a group.
    if isinstance(error, OSError) and not isinstance(error, HydraException):
        return _describe_os_error(error), SelfPlayError.exit_code
    return one_line(error), SettingError.exit_code


def _describe_os_error(error: OSError) -> str:
    reason = error.strerror or " ".join(str(error).split())
    return f"{error.filename}: {reason}" if error.filename else reason
