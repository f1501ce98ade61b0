"""What can go wrong in a way that the user can mend: each message is one line that names the thing and the mend."""


class SelfPlayError(Exception):
    """A run that failed for a reason that its user can mend; scripts print it as one line and exit with `exit_code`."""

    exit_code = 1


class SettingError(SelfPlayError, ValueError):
    """A setting that does not exist or whose value is out of range."""

    exit_code = 2


class IllegalActionError(SelfPlayError, ValueError):
    """An action that the rules do not allow in the position it was given for, or text that names no action."""


class NotNowError(SelfPlayError):
    """What a match does not allow at this point: nothing to take back, nobody's turn, nobody who could give a hint."""


class InvalidFileError(SelfPlayError, ValueError):
    """A file that is missing, cut off, foreign or out of range."""

    def __init__(self, path: object, reason: str) -> None:
        # Both are arguments, so that the error can be sent from one process to another.
        super().__init__(path, reason)

    def __str__(self) -> str:
        return "{}: {}".format(*self.args)


class StageError(SelfPlayError):
    """A stage that cannot go on: its input is missing, or what stands there was made with other settings."""


class RunLockedError(SelfPlayError):
    """Another run is at work in the same run_dir."""


class GameTooLargeError(SelfPlayError):
    """A game with more positions than may be enumerated."""


class TimeLimitError(SelfPlayError):
    """Work that did not come to its end within the time it was given."""


class EngineError(SelfPlayError):
    """An engine of the Go Text Protocol that is gone, stalls, answers with an error or with nonsense."""


class ForfeitError(SelfPlayError):
    """A player that cannot go on with its match, or will not keep to the rules: it has lost that match."""


class ConformanceError(SelfPlayError):
    """A game that breaks the contract that every game keeps."""
