"""Command-line arguments: flags such as `--level 3`, overrides such as `level=3`, and quoting for Hydra."""

import argparse
import re
from collections.abc import Callable, Sequence
from typing import NoReturn

from selfplay.errors import SettingError
from selfplay.settings.command_lines import command_line, with_command_lines

FLAGS = (
    *("game", "recipe", "run_dir", "seed", "level", "levels", "matches", "force", "opponent"),
    *("agent_file", "dataset_file", "start_file", "output_dir"),
    *("agent", "episodes", "first", "second", "players", "host", "port"),
)
"""Settings that can also be written as `--name value` or `--name=value`."""

PATHS = (
    *("run_dir", "agent_file", "dataset_file", "start_file", "output_dir", "evaluation_file", "json", "tables"),
    *("experience.path", "picture.file", "other_runs"),
)
"""Settings that are a file or a folder."""

HELP_FLAGS = ("--help", "-h")

HYDRA_FLAGS = (
    *("--hydra-help", "--version", "--resolve", "--run", "-r", "--multirun", "-m"),
    *("--shell-completion", "-sc", "--info", "-i"),
)

HYDRA_FLAGS_WITH_VALUE = (
    *("--cfg", "-c", "--package", "-p", "--config-path", "-cp", "--config-name", "-cn", "--config-dir", "-cd"),
    "--experimental-rerun",
)

SWEEP_FLAGS = {"--multirun", "-m"}

PLAYER_WITH_OPTIONS = re.compile(
    r"""'[^']*'|"[^"]*"|(?<!['"\w])(?P<unquoted>(?:gtp:|[A-Za-z_][\w.]*(?::[^,\[\]'"?]*)?\?)[^,\[\]'"]*)"""
)
"""A text in quotes, or an unquoted player name with options, such as level:17?depth=2, or with a command."""

OVERRIDE = re.compile(r"[+~]*[A-Za-z_][\w.]*=")

HYDRA_FUNCTION = re.compile(r"\w+\(.*,.*\)")


def overrides_first(arguments: Sequence[str], own_flags: Callable[[], Sequence[str]] = lambda: FLAGS) -> list[str]:
    """`arguments` with the flags of this program rewritten as overrides, and all overrides before the flags of Hydra.

    Hydra rejects flags that are not its own, and overrides on both sides of `-m`.

    `own_flags`: those of FLAGS that the program has, for the error about an unknown flag.

    Raises SettingError for an unknown flag, a flag without its value, or an argument that is neither flag nor override.
    """
    overrides: list[str] = []
    hydra_flags: list[str] = []
    rest = list(arguments)
    is_sweep = not SWEEP_FLAGS.isdisjoint(rest)
    while rest:
        argument = rest.pop(0)
        flag, equals, value = argument.partition("=")
        name = flag.removeprefix("--").replace("-", "_")
        if flag.startswith("--") and name in FLAGS:
            overrides.append(_override(name, value if equals else _value_of_flag(flag, rest), is_sweep))
        elif flag in HYDRA_FLAGS_WITH_VALUE:
            hydra_flags += [argument] if equals else [flag, _value_of_flag(flag, rest)]
        elif argument in (*HELP_FLAGS, *HYDRA_FLAGS):
            hydra_flags.append(argument)
        elif argument.startswith("-"):
            known = ", ".join(f"--{name}" for name in own_flags())
            raise SettingError(f"unknown flag {argument}; choose from {known}, --help")
        else:
            overrides.append(_checked_override(argument, is_sweep))
    return overrides + hydra_flags


def _value_of_flag(flag: str, rest: list[str]) -> str:
    """Remove the value of `flag` from `rest` and return it."""
    if not rest or OVERRIDE.match(rest[0]) or (rest[0].startswith("-") and not rest[0][1:].isdigit()):
        raise SettingError(f"{flag} needs a value")
    return rest.pop(0)


def _checked_override(argument: str, is_sweep: bool) -> str:
    name, equals, value = argument.partition("=")
    if equals:
        return _override(name, value, is_sweep)
    if argument.startswith("~"):
        return argument
    raise SettingError(f"{argument!r} is neither a flag nor a setting; write name=value")


def _override(name: str, value: str, is_sweep: bool) -> str:
    """`name=value`, quoted where Hydra's grammar requires it: special characters in a folder, options of a player.

    A sweep makes such folders (`recipe=article,seed=0`). A path is left as it is if it is already quoted or calls a
    function of Hydra, and in a sweep if it has commas, which separate the values to sweep over.
    """
    if name not in PATHS:
        value = PLAYER_WITH_OPTIONS.sub(lambda found: f"'{found[0]}'" if found["unquoted"] else found[0], value)
    elif re.search(r"[^\w\s/.+$%*@?|:{}-]", value, re.ASCII) and not (
        re.search("['\"]", value) or HYDRA_FUNCTION.fullmatch(value) or (is_sweep and "," in value)
    ):
        value = f"'{value}'"
    return f"{name}={value}"


class ArgumentParser(argparse.ArgumentParser):
    """The parser of programs without settings: wrong arguments raise SettingError.

    Args:
        program: the name of the program, such as "solve".
        description: the docstring of its module; it is not re-wrapped.
    """

    def __init__(self, program: str, description: str) -> None:
        form = argparse.RawDescriptionHelpFormatter
        super().__init__(command_line(program), description=with_command_lines(description), formatter_class=form)

    def error(self, message: str) -> NoReturn:
        raise SettingError(f"{message}; see {self.prog} --help")
