"""Errors that the user can fix. Each message is one line that names the problem and the fix."""

import errno
import re
from collections.abc import Callable, Sequence
from typing import Any

from selfplay.error_places import compile_fault

SHORTENED = 80
"""The most characters of a text from outside that an error message repeats."""

LONGEST_WORD, LONGEST_MESSAGE = 300, 1000
"""The most characters of a word and of a whole message; paths and lists of choices are shorter."""
LONGEST_REASON = 400
"""The most characters of the reason in an InvalidFileError. Code from outside has half of it for its reason."""


class Escaped(str):
    """A text whose control characters are escapes, which its `repr` does not escape again."""

    __slots__ = ()

    def __repr__(self) -> str:
        return super().__repr__().replace("\\\\", "\\")


def shortened(text: object, most: int = SHORTENED) -> str:
    """A text from outside for an error message: on one line, not too long, and without control characters."""
    line = one_line(str(text)[: 10 * most])
    return Escaped(line if len(line) <= most else f"{line[: most - 3]}...")


def brief(message: str) -> str:
    """A message without the middle of long texts from outside. Its end names the fix."""
    words = re.sub(rf"\S{{{LONGEST_WORD + 1},}}", lambda word: f"{word[0][:200]}...{word[0][-80:]}", message)
    return words if len(words) <= LONGEST_MESSAGE else f"{words[:600]}...{words[-350:]}"


def text_of(error: BaseException) -> str:
    """The message of an error. Code from outside can raise errors whose message cannot be written."""
    try:
        return str(error)
    except Exception:
        return "its message cannot be written"


def one_line(text: str) -> str:
    """`text` on one line, with escapes such as \\x1b for characters that would control the terminal."""
    line = " ".join(text.split())
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in line)


class SelfPlayError(Exception):
    """Base class of the errors that the user can fix; scripts print it as one line and exit with `exit_code`."""

    exit_code = 1

    def __str__(self) -> str:
        return brief(super().__str__())


USER_ERRORS = (SelfPlayError, OSError)
"""The errors for which one line is enough; all others are bugs of the program."""


OUT_OF_MEMORY = (
    *("failed to map segment", "cannot create shared object descriptor", "cannot allocate memory"),
    *("can't allocate memory", "not enough memory", "cuda out of memory"),
)
"""Messages of the dynamic linker, the system and torch for what is a MemoryError in Python."""
OUT_OF_MEMORY_MESSAGE = "memory ran out; end other programs, or raise the limit (ulimit -v, or that of the container)"


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out, also while a library was imported."""
    text = text_of(error).lower()
    return isinstance(error, MemoryError) or any(sign in text for sign in OUT_OF_MEMORY)


TOO_MANY_FILES = "too many files are open; allow more with ulimit -n 1024"


def system_reason(error: OSError) -> str:
    """Why the system refused something, and what to do if too many files are open."""
    # Libraries raise errors of their own, with the text of the system only.
    if error.errno in (errno.EMFILE, errno.ENFILE) or "too many open files" in text_of(error).lower():
        return TOO_MANY_FILES
    return error.strerror or " ".join(str(error).split())


def line_of(error: Exception) -> str | None:
    """The line that reports an error; None for a bug of the program."""
    if isinstance(error, OSError):
        reason = system_reason(error)
        return brief(f"{error.filename}: {reason}" if error.filename and reason != TOO_MANY_FILES else reason)
    if isinstance(error, ImportError) and "too many open files" in text_of(error).lower():
        return TOO_MANY_FILES
    if isinstance(error, SelfPlayError):
        return str(error)
    if (fault := compile_fault(error)) is not None:
        return f"{fault.reason}{fault.place}"
    return OUT_OF_MEMORY_MESSAGE if is_out_of_memory(error) else None


class SettingError(SelfPlayError, ValueError):
    """A setting that does not exist or whose value is out of range."""

    exit_code = 2


class IllegalActionError(SelfPlayError, ValueError):
    """An action that is not legal in its position, or text that does not name an action.

    Examples:
        >>> selfplay.make_game("connect_four").state_after(["9"])
        Traceback (most recent call last):
        selfplay.errors.IllegalActionError: '9' is not a move; write a column from 1 to 7
    """


class BrokenTranscriptError(IllegalActionError):
    """A transcript in which a move cannot be played.

    Args:
        actions: those before it.
    """

    def __init__(self, message: str, actions: Sequence[int]) -> None:
        # Both are arguments, so that the error can be sent from one process to another.
        super().__init__(message, actions)
        self.actions = actions

    def __str__(self) -> str:
        return brief(self.args[0])


class OtherGameError(IllegalActionError):
    """A match that is of another game, board or option than the one that is played.

    Args:
        game: the name of its game.
    """

    def __init__(self, message: str, game: str) -> None:
        super().__init__(message)
        self.game = game


class NotNowError(SelfPlayError):
    """A request that a match does not allow now, for example because it is over or there is nothing to take back."""


class InvalidFileError(SelfPlayError, ValueError):
    """A file that is missing, truncated, in another format, or has values out of range."""

    def __init__(self, path: object, reason: str) -> None:
        # Both are arguments, so that the error can be sent from one process to another.
        super().__init__(path, reason)

    def __str__(self) -> str:
        path, reason = self.args
        # A reason may repeat a long value of the file.
        short = reason if len(reason) <= LONGEST_REASON else f"{reason[:200]}...{reason[-150:]}"
        return brief(f"{path}: {one_line(short)}")


class StageError(SelfPlayError):
    """A stage that cannot run: its input is missing, or its files were made with other settings."""


class RunLockedError(SelfPlayError):
    """Another process, or another thread of this one, is using the same run_dir."""


class GameTooLargeError(SelfPlayError):
    """A game with too many positions to enumerate."""


class TimeLimitError(SelfPlayError):
    """Work that did not finish within its time limit."""


class EngineError(SelfPlayError):
    """A GTP engine that has exited, does not answer in time, or answers with an error or an invalid answer."""


class ForfeitError(SelfPlayError):
    """A player that cannot continue its match or broke the rules, and therefore loses the match."""


class ResignError(ForfeitError):
    """A player that gives its match up because it expects to lose it."""


class ConformanceError(SelfPlayError):
    """A game that breaks the contract of games, or a player or a learner that breaks its contract.

    Args:
        about: the function that does so, if it has not raised an error itself; messages name its file and line.
        line: the line in this file; None: the first of the function.
    """

    def __init__(self, message: str, about: Callable[..., Any] | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.about, self.line = about, line


class RuleError(ConformanceError):
    """A rule of a game that fails in a match. The message ends with the file, the line and the function."""
