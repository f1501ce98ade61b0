"""Command-line arguments as overrides of Hydra: flags, quoting, and the runs of a sweep."""

import re
from collections.abc import Sequence
from dataclasses import Field
from itertools import product
from typing import Any

from selfplay.errors import SettingError
from selfplay.settings.choices import PLAYERS
from selfplay.settings.compose import errors_of_settings, with_outside_names
from selfplay.settings.fields import PLAYER_NAME
from selfplay.settings.run import Settings

HELP_FLAGS, SWEEP_FLAGS = {"--help", "-h"}, {"--multirun", "-m"}

PRINTING_FLAGS = {
    *("--cfg", "-c", "--package", "-p", "--resolve", "--info", "-i"),
    *("--hydra-help", "--version", "--shell-completion", "-sc"),
}
"""Flags with which Hydra prints something and runs nothing."""

QUERY = "query="
"""How the last argument begins when a shell asks for the words that complete the line in COMP_LINE."""

PLAYER_WITH_OPTIONS = re.compile(
    r"""'[^']*'|"[^"]*"|(?<!['"\w])(?P<unquoted>(?:gtp:|[A-Za-z_][\w.]*(?::[^,\[\]'"?]*)?\?)[^,\[\]'"]*)"""
)
"""A text in quotes, or an unquoted player name with options, such as level:17?depth=2, or with a command."""

OVERRIDE = re.compile(r"[+~]*[A-Za-z_][\w.]*=")

HYDRA_FUNCTION = re.compile(r"\w+\(.*,.*\)")


def overrides_first(arguments: Sequence[str], kind: type[Any] = Settings) -> tuple[list[str], list[str]]:
    """The overrides in these arguments, quoted where Hydra's grammar requires it, and the flags.

    `--name value` and `--name=value` are the override `name=value`; `--config-dir FOLDER` adds a folder like conf/.

    Args:
        kind: the class of the settings.

    Raises SettingError for a flag without its value, or an argument that is neither flag nor override.
    """
    overrides: list[str] = []
    flags: list[str] = []
    is_sweep = not SWEEP_FLAGS.isdisjoint(arguments)
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        flag, equals, value = argument.partition("=")
        if flag in HELP_FLAGS | SWEEP_FLAGS | PRINTING_FLAGS:
            flags.append(argument)
        elif flag.startswith("--"):
            if not equals:
                if not rest or OVERRIDE.match(rest[0]) or re.match(r"-\D", rest[0]):
                    raise SettingError(f"{flag} needs a value")
                value = rest.pop(0)
            name = flag.removeprefix("--").replace("-", "_")
            folders = f"hydra.searchpath=['{value}']"
            overrides.append(folders if name == "config_dir" else _override(name, value, kind, is_sweep))
        elif equals:
            overrides.append(_override(flag, value, kind, is_sweep))
        elif argument.startswith("~"):
            overrides.append(argument)
        elif flags:
            # The value of a flag of Hydra, such as --cfg job.
            flags.append(argument)
        else:
            raise SettingError(f"{argument!r} is neither a flag nor a setting; write name=value")
    return with_outside_names(overrides), flags


def _override(name: str, value: str, kind: type[Any], is_sweep: bool) -> str:
    """`name=value`, quoted where Hydra's grammar requires it: special characters in a text, options of a player.

    A text is left as it is if it is already quoted or calls a function of Hydra, and in a sweep if it has commas, which
    separate the values to sweep over.
    """
    if not _is_text(kind, name) or (is_sweep and "," in value):
        value = PLAYER_WITH_OPTIONS.sub(lambda found: f"'{found[0]}'" if found["unquoted"] else found[0], value)
    elif re.search(r"[^\w\s/.+$%*@|:{}-]", value, re.ASCII) and not (
        re.search("['\"]", value) or HYDRA_FUNCTION.fullmatch(value)
    ):
        value = f"'{value}'"
    return f"{name}={value}"


def _is_text(kind: Any, name: str) -> bool:
    """Whether the setting with this dotted name is a text, and not the option of a group."""
    field = _field(kind, name)
    return field is not None and field.type in (str, str | None)


def _field(kind: Any, name: str) -> Field[Any] | None:
    """The field of the setting with this dotted name; None if there is none."""
    field = None
    for part in name.split("."):
        field = getattr(kind, "__dataclass_fields__", {}).get(part)
        kind = None if field is None else field.type
    return field


def completed_players(kind: type[Any], line: str) -> list[str]:
    """The words with which the last setting of a command line can go on, if it holds the names of players."""
    word = line.rpartition(" ")[2]
    field = _field(kind, word.partition("=")[0])
    if field is None or not field.metadata.keys() & PLAYER_NAME.keys():
        return []
    # Before a name in a list are a bracket and other names.
    before = re.match(r"[^=]*=\[?(?:[^,]*,)*", word)
    return [f"{before[0]}{name}" for name in PLAYERS] if before else []


def runs_of_sweep(overrides: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The runs of a sweep over the values in these overrides, such as `seed=0,1`: the name and overrides of each.

    A run is named after its values of the swept settings, in the order of their names: `recipe=article,seed=0`.

    Raises SettingError for a sweep over anything but listed values.
    """
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.core.override_parser.types import ValueType

    with errors_of_settings(Settings):
        parsed = OverridesParser.create().parse_overrides(list(overrides))
    choices: list[list[tuple[str, str]]] = []
    # The last override of a setting counts, as for Hydra.
    for name, override in {one.get_key_element(): one for one in parsed}.items():
        if not override.is_sweep_override():
            choices.append([(str(override.input_line), "")])
            continue
        if not override.is_discrete_sweep() or override.value_type == ValueType.GLOB_CHOICE_SWEEP:
            raise SettingError(f"{name}={override.get_value_string()}: list the values, as in {name}=one,two")
        values = [f"{name}={value}" for value in override.sweep_string_iterator()]
        choices.append([(value, "" if name == "run_dir" else value) for value in values])
    return [(_name_of_run(run), [given for given, _ in run]) for run in product(*choices)]


def _name_of_run(values: Sequence[tuple[str, str]]) -> str:
    swept = sorted(value for _, value in values if value)
    return ",".join(swept).replace("/", ".").replace("'", "").replace('"', "")
