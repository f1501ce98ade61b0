"""The command `selfplay`: `selfplay learn`, `selfplay play`, ...; `selfplay --help` lists all programs."""

import ast
import os
import sys
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path

import selfplay
from selfplay.cli import programs
from selfplay.cli.entry import exit_at_once, handle_signals, open_standard_streams, reporting_errors, run
from selfplay.errors import SettingError, shortened

NAMES = tuple(programs.MODULES)
COMPLETION_FLAGS = ("-sc", "--shell-completion")


def main() -> None:
    """Run the program that the first argument names."""
    handle_signals()
    open_standard_streams()
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("--help", "-h", "help"):
        _print(overview)
    elif arguments[0] == "--version":
        _print(lambda: f"selfplay {selfplay.__version__}")
    elif arguments[0].startswith(COMPLETION_FLAGS) or arguments[-1].startswith("query="):
        complete()
    elif (name := arguments[0].replace("_", "-")) in NAMES:
        del sys.argv[1]
        run(name)
    else:
        exit_at_once(SettingError.exit_code, _unknown(arguments[0]))


def _print(text: Callable[[], str]) -> None:
    with reporting_errors():
        print(text(), flush=True)


def overview() -> str:
    """The list of all programs, one line each."""
    width = max(map(len, NAMES))
    parts = ["usage: selfplay PROGRAM [SETTINGS]", ""]
    for module, names in programs.NAMES.items():
        firsts = _first_lines(module)
        lines = (f"  {name:{width}}  {firsts[name]}" for name in names)
        parts += [f"{programs.SUBJECTS[module]}:", *lines, ""]
    parts.append(
        "selfplay PROGRAM --help describes a program, --help-all all settings. Runs are written below outputs/."
    )
    parts.append('Completion of names and settings in bash: eval "$(selfplay -sc install=bash)"')
    return "\n".join(parts)


def _first_lines(module: str) -> dict[str, str]:
    """The first line of the docstring of each program in a module, read from its source: importing takes longer."""
    tree = ast.parse(Path(programs.__file__).with_name(f"{module}.py").read_text(encoding="utf-8"))
    docstrings = {node.name: ast.get_docstring(node) or "" for node in tree.body if isinstance(node, ast.FunctionDef)}
    names = {name: name.removesuffix("_program").replace("_", "-") for name in docstrings}
    return {names[name]: text.partition("\n")[0].removesuffix(".") for name, text in docstrings.items()}


def complete() -> None:
    """Let Hydra print the completions of the line in COMP_LINE, or the commands that set up a shell.

    Names of programs are completed here, and Hydra is shown the line without the name.
    """
    line = os.environ.get("COMP_LINE", "")
    words = line.split()
    if not sys.argv[-1].startswith("query="):
        run(NAMES[0])
    elif len(words) < 2 or words[1].replace("_", "-") not in NAMES:
        _print(lambda: " ".join(NAMES))
    else:
        name = words.pop(1).replace("_", "-")
        os.environ["COMP_LINE"] = " ".join(words) + " " * line.endswith(" ")
        run(name)


def _unknown(name: str) -> str:
    close = get_close_matches(name, NAMES, 1)
    guess = f"did you mean {close[0]}? " if close else ""
    return f"unknown program {shortened(name)!r}; {guess}selfplay --help lists all"
