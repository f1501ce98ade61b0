"""Where in code from outside this package an error was raised: its file, the function and the line."""

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from traceback import FrameSummary, extract_tb
from typing import NamedTuple

PACKAGE = Path(__file__).parent.resolve()
STYLE = re.compile(r"\x1b\[[0-9;]*m")
NUMBA_PLACE = re.compile(r'File "([^"]+)", line (\d+):')
NAMES_ITS_FAULT = re.compile(
    r"module '.*' has no attribute|.*\(\) (missing|takes|got)|Can't instantiate abstract class", re.DOTALL
)
"""An error that names the attribute or function at fault: the place in this package that needs it says nothing more."""
NUMBA_STEP = re.compile(r"\(step: [^)]*\)\n")


class CompileFault(NamedTuple):
    """What the compiler refuses in code from outside."""

    reason: str
    place: str


def is_outside(module: str) -> bool:
    """Whether a module is not one of this package."""
    return module.partition(".")[0] != PACKAGE.name


def place_of(error: BaseException, module: str) -> str:
    """Where in the file of a module an error was raised, such as " (chess.py, line 5, in play)".

    If it was raised elsewhere, a place in another file of the same folder, or the file of the module and the place in
    this package, such as a method that a class inherits; empty if the file is not known.
    """
    try:
        spec = find_spec(module)
    # Finding a module imports its package, which can raise anything.
    except (Exception, SystemExit):
        return ""
    if spec is None or not spec.has_location or spec.origin is None:
        return ""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f" ({error.filename}, line {error.lineno})"
    if (code := getattr(getattr(error, "about", None), "__code__", None)) is not None:
        line = getattr(error, "line", None) or code.co_firstlineno
        return f" ({_place(FrameSummary(code.co_filename, line, code.co_name))})"
    frames = [frame for one in _chain(error) for frame in extract_tb(one.__traceback__)]
    own = [frame for frame in frames if frame.filename == spec.origin] or list(_beside(frames, Path(spec.origin)))
    if own:
        return f" ({_place(own[-1])})"
    # An error of this package says itself what is wrong.
    is_other = is_outside(type(error).__module__) and not NAMES_ITS_FAULT.match(str(error))
    inherited = [frame for frame in frames if is_other and PACKAGE in Path(frame.filename).parents]
    return f" ({spec.origin}; raised in {_place(inherited[-1])})" if inherited else f" ({spec.origin})"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and those that it was made from."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__


def _beside(frames: list[FrameSummary], origin: Path) -> Iterator[FrameSummary]:
    """Those in other files of the folder, unless it is the folder of all installed packages."""
    if origin.parent.name not in ("site-packages", "dist-packages"):
        yield from (frame for frame in frames if Path(frame.filename).parent == origin.parent)


def _place(frame: FrameSummary) -> str:
    function = "" if frame.name.startswith("<") else f", in {frame.name}"
    return f"{frame.filename}, line {frame.lineno}{function}"


def compile_fault(error: BaseException) -> CompileFault | None:
    """What numba refuses in code from outside this package; None if this is another error.

    Its message has many lines, one part for each function that calls another, the innermost first.
    """
    if not type(error).__module__.startswith("numba."):
        return None
    text = STYLE.sub("", str(error))
    for found in NUMBA_PLACE.finditer(text):
        file = Path(found[1]).resolve()
        if file.is_relative_to(PACKAGE) or "site-packages" in file.parts:
            continue
        said = NUMBA_STEP.split(text[: found.start()])[-1].partition("There are ")[0].partition("During: ")[0]
        reason = " ".join(said.split()).rstrip(".")
        function = re.search(r"def (\w+)\(", text[found.end() :])
        inside = "" if function is None else f", in {function[1]}"
        return CompileFault(f"it cannot be compiled: {reason}", f" ({file}, line {found[2]}{inside})")
    return None
