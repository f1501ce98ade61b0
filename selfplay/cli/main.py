"""The command `selfplay`: `selfplay learn`, `selfplay play`, ...; `selfplay --help` lists all programs."""

import sys

from selfplay.process_exit import handle_signals

# Before the slower imports of a program, as shell/project_environment.py does for scripts.
handle_signals()

import ast  # noqa: E402
import os  # noqa: E402
from collections.abc import Callable  # noqa: E402
from difflib import get_close_matches  # noqa: E402
from importlib import import_module  # noqa: E402
from importlib.metadata import version  # noqa: E402
from pathlib import Path  # noqa: E402

from selfplay.cli import programs  # noqa: E402
from selfplay.errors import SettingError, shortened  # noqa: E402
from selfplay.process_exit import exit_with_line  # noqa: E402

NAMES = tuple(name for names in programs.PROGRAMS.values() for name in names)
COMPLETION_FLAGS = ("-sc", "--shell-completion")


def main() -> None:
    """Run the program that the first argument names."""
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("--help", "-h", "help"):
        _print_reporting_errors(overview)
    elif arguments[0] == "--version":
        print(f"selfplay {version('selfplay')}")
    elif arguments[0].startswith(COMPLETION_FLAGS):
        complete()
    elif (name := arguments[0].replace("_", "-")) in NAMES:
        del sys.argv[1]
        run(name)
    else:
        exit_with_line(_unknown(arguments[0]), SettingError.exit_code)


def run(name: str) -> None:
    """Run a program with the arguments in sys.argv. Only its own module is imported, so that it starts quickly."""
    import_module(f"selfplay.cli.programs.{name.replace('-', '_')}").main()


def _print_reporting_errors(text: Callable[[], str]) -> None:
    # Imported here, because the programs import it themselves.
    from selfplay.cli.command import reporting_errors

    with reporting_errors():
        print(text(), flush=True)


def overview() -> str:
    """The list of all programs, one line each."""
    width = max(map(len, NAMES))
    parts = ["usage: selfplay PROGRAM [SETTINGS]", ""]
    for subject, names in programs.PROGRAMS.items():
        parts += [f"{subject}:", *(f"  {name:{width}}  {_first_line(name)}" for name in names), ""]
    parts.append("selfplay PROGRAM --help describes a program and all its settings. Runs are written below outputs/.")
    parts.append('Completion of names and settings in bash: eval "$(selfplay -sc install=bash)"')
    return "\n".join(parts)


def _first_line(name: str) -> str:
    """The first line of a program's docstring, read from its source, because importing all programs takes seconds."""
    source = Path(programs.__file__).with_name(f"{name.replace('-', '_')}.py").read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(source)) or ""
    return docstring.partition("\n")[0].removesuffix(".")


def complete() -> None:
    """Let Hydra print the completions of the line in COMP_LINE, or the commands that set up a shell.

    Names of programs are completed here, and Hydra is shown the line without the name.
    """
    line = os.environ.get("COMP_LINE", "")
    words = line.split()
    if not sys.argv[-1].startswith("query="):
        run(NAMES[0])
    elif len(words) < 2 or words[1].replace("_", "-") not in NAMES:
        _print_reporting_errors(lambda: " ".join(NAMES))
    else:
        name = words.pop(1).replace("_", "-")
        os.environ["COMP_LINE"] = " ".join(words) + " " * line.endswith(" ")
        run(name)


def _unknown(name: str) -> str:
    close = get_close_matches(name, NAMES, 1)
    guess = f"did you mean {close[0]}? " if close else ""
    return f"unknown program {shortened(name)!r}; {guess}selfplay --help lists all"
