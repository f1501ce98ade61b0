"""The one line that a user reads of an error that can be mended, ours or one of the libraries' that read settings."""

from selfplay.errors import SelfPlayError, SettingError


def mendable_errors() -> tuple[type[Exception], ...]:
    """The errors of which a line says enough; all others are faults of the program."""
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    return (SelfPlayError, HydraException, OmegaConfBaseException, OSError)


def line_and_code(error: Exception) -> tuple[str, int]:
    """The line, and the code that a program exits with, for one of `mendable_errors`."""
    # Settings import much, and scripts import this before Ctrl-C is seen to (selfplay.process_exit).
    from hydra.errors import HydraException

    from selfplay.settings.compose import one_line

    if isinstance(error, SelfPlayError):
        return str(error), error.exit_code
    # A group's option that is not there is an OSError of Hydra's too.
    if isinstance(error, OSError) and not isinstance(error, HydraException):
        return _describe_os_error(error), SelfPlayError.exit_code
    return one_line(error), SettingError.exit_code


def _describe_os_error(error: OSError) -> str:
    reason = error.strerror or " ".join(str(error).split())
    return f"{error.filename}: {reason}" if error.filename else reason
