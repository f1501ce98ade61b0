"""Errors of code from outside this package, in one line with the file, the function and the line in it."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import ModuleType

from selfplay.error_places import is_outside, place_of
from selfplay.errors import (
    LONGEST_REASON,
    ConformanceError,
    RuleError,
    SelfPlayError,
    SettingError,
    is_out_of_memory,
    shortened,
    text_of,
)


def errors_of_outside(kind: str, name: str, module: str, failure: str = "") -> AbstractContextManager[None]:
    """Turn what code of a module outside this package raises into a SettingError of one line that names its file.

    The line begins with the kind and the name of the object, and with what failed.
    """
    return errors_about(f"{kind} {shortened(name)!r}{failure}", module)


@contextmanager
def errors_about(subject: str, module: str) -> Iterator[None]:
    """As `errors_of_outside`, with another beginning of the line."""
    try:
        yield
    except SelfPlayError as error:
        # Code from outside may call other code from outside, such as a learner a player, whose errors have a place.
        has_place = isinstance(error, RuleError) or isinstance(error.__cause__, ConformanceError)
        if has_place or not (isinstance(error, ConformanceError) and is_outside(module)):
            raise
        raise ConformanceError(f"{error}{place_of(error, module)}") from error
    # It can raise anything, and end the program. Memory that runs out is not its fault.
    except (Exception, SystemExit) as error:
        is_its_own = is_outside(module) or isinstance(error, (ImportError, AttributeError))
        if not is_its_own or is_out_of_memory(error):
            raise
        raise SettingError(f"{subject}: {_reason(error)}{place_of(error, module)}") from error


def _reason(error: BaseException) -> str:
    """The message of an exception, with its type if the message alone is not clear."""
    is_clear = isinstance(error, (ImportError, AttributeError, SyntaxError))
    text = error.msg if isinstance(error, SyntaxError) else text_of(error)
    return shortened(text if is_clear else f"{type(error).__name__}: {text}", LONGEST_REASON // 2)


def hidden_file(found: ModuleType) -> str | None:
    """The file of the current folder that is not found because a module with its name is; None if there is none."""
    file, origin = Path(f"{found.__name__}.py"), _origin(found)
    is_hidden = file.is_file() and (origin is None or not file.samefile(origin))
    return file.name if is_hidden else None


def described_module(module: ModuleType) -> str:
    """Whose module it is and where, for an error."""
    owner = "its own module" if module.__name__ in sys.stdlib_module_names else "another module named"
    return f"{owner} {module.__name__} ({_origin(module) or 'without a file'})"


def _origin(module: ModuleType) -> str | None:
    """The file of a module; None if it is built in, or a folder without a file."""
    return getattr(module, "__file__", None)
