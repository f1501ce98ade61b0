"""Overrides of settings, such as `levels=3`, as Hydra needs them, and its errors in one line that names the setting."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache
from os import PathLike, fspath
from pathlib import Path
from typing import Any, cast, get_origin

from hydra.core.override_parser.types import Quote, QuotedString
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException, ValidationError

from selfplay.architectures import ARCHITECTURES, option_defaults
from selfplay.errors import SelfPlayError, SettingError, shortened
from selfplay.learners import LEARNERS, Learner
from selfplay.names_of_games import SPIEL_NAMES, parts_of_game_name
from selfplay.registry import offers, own_name
from selfplay.runs.folders import CONFIG_FOLDER
from selfplay.settings.common import GameSettings, field_of

GROUPS_OF_OBJECTS = {
    "game": "selfplay.games",
    "architecture": "selfplay.architectures",
    "learner": "selfplay.learners",
}
"""The groups of conf/ whose options are objects of a registry, and the group of its entry points."""

PARAMETER = re.compile(r"game\.(parameters\.)?([a-z]+)")
"""A parameter of a game, or one of the fields of its settings."""

PARAMETERS = "game.parameters"
"""All parameters of a game together."""

ADDED_PARAMETER = f"+{PARAMETERS}."
"""What Hydra needs before the name of a parameter of a game instead of `game.`."""

QUOTED = r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\""""
"""A text that the user has put in quotes, as Hydra's grammar has it."""

SWEEP_FUNCTION = re.compile(r"(choice|range|interval|glob|shuffle|sort|tag)\((.*)\)", re.DOTALL)

TYPES = {
    **dict.fromkeys(("Integer", "int"), "a whole number"),
    **dict.fromkeys(("Float", "float"), "a number"),
    **dict.fromkeys(("Boolean", "bool"), "true or false"),
    **dict.fromkeys(("String", "str"), "a text"),
    "tuple.": "a list",
}
"""The type that a value must have, by the last word of a message of OmegaConf."""


def list_of_overrides(overrides: object, kind: type[Any]) -> list[str]:
    """Overrides given from Python, with texts in quotes as on the command line.

    `kind`: the class of the settings. Raises SettingError if the overrides are not a list of texts.
    """
    if not isinstance(overrides, list | tuple) or not all(isinstance(text, str) for text in overrides):
        raise SettingError(f"overrides={shortened(repr(overrides))}: must be a list of texts, such as ['levels=3']")
    return [
        override_of(name, value, kind) if equals else name
        for name, equals, value in (text.partition("=") for text in overrides)
    ]


def overrides_of(settings: Mapping[str, Any]) -> list[str]:
    """Hydra overrides that give settings these values. The settings of a section, such as `learner`, are a mapping.

    Raises SettingError for a value that is not a text, a number, true, false, None or a list of them.
    """
    given: list[str] = []
    for name, value in settings.items():
        if name == "architecture" and isinstance(value, Mapping) and "name" in value:
            options = {f"architecture.{part}": inner for part, inner in value.items() if part != "name"}
            # Only a network of this program has its options in conf/.
            sign = "+" if _is_outside(name, str(value["name"])) else ""
            given += [f"architecture={value['name']}", *(f"{sign}{option}" for option in overrides_of(options))]
        elif name == "learner" and isinstance(value, Mapping) and "name" in value:
            parameters = {f"learner.{part}": inner for part, inner in value.items() if part != "name"}
            given += [f"learner={value['name']}", *overrides_of(parameters)]
        elif isinstance(value, Mapping) and name != "from_level":
            given += overrides_of({f"{name}.{part}": inner for part, inner in value.items()})
        elif isinstance(value, str | PathLike) and is_group(CONFIG_FOLDER, name):
            given.append(f"{name}={value}")
        else:
            given.append(f"{name}={_override_value(name, value)}")
    return given


def _override_value(name: str, value: Any) -> str:
    if hasattr(value, "tolist"):  # a number or an array of numpy, or a tensor
        value = value.tolist()
    if isinstance(value, str | PathLike):
        return quoted(fspath(value))
    if isinstance(value, list | tuple | range):
        return f"[{','.join(_override_value(name, part) for part in value)}]"
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{key}:{_override_value(name, inner)}' for key, inner in value.items())}}}"
    if value is None or isinstance(value, bool | int | float):
        return "null" if value is None else str(value)
    kind = type(value).__name__
    raise SettingError(f"{name}={shortened(value)}: must be a text, a number, True, False, None or a list, not {kind}")


def quoted(text: str) -> str:
    """A text as Hydra's grammar writes it, in quotes."""
    return QuotedString(text, Quote.single).with_quotes()


def check_given_once(overrides: Sequence[str]) -> None:
    """Raise SettingError if overrides give a setting two values, of which Hydra would silently use the last.

    A group of conf/ may be chosen again, as a script does that puts `recipe=othello` in front of its arguments.
    """
    values: dict[str, str] = {}
    for override in overrides:
        name, equals, value = override.lstrip("+").partition("=")
        if not equals or is_group(CONFIG_FOLDER, name):
            continue
        if name in values:
            raise SettingError(f"{name} is set twice, to {shortened(values[name])} and {shortened(value)}; set it once")
        values[name] = value


def override_of(name: str, value: str, kind: type[Any], is_sweep: bool = False) -> str:
    """`name=value`, with texts in quotes: Hydra would read 2026_11 as a number, and drop spaces at the ends of a text.

    In a sweep, commas separate the values to sweep over. Functions of Hydra for sweeps, such as range(3), are left.
    """
    field = field_of(kind, name.lstrip("+"))
    # The values of an unknown setting are texts, so that the error message is about its name.
    type_of_value = str if field is None and name.isidentifier() else getattr(field, "type", None)
    if is_sweep and (choice := SWEEP_FUNCTION.fullmatch(value)) and choice[1] == "choice":
        value = choice[2]
    if not SWEEP_FUNCTION.fullmatch(value):
        if type_of_value in (str, str | None):
            value = _each_as_typed(value, ",") if is_sweep else as_typed(value)
        elif type_of_value in (list[str], list[str] | None):
            value = _each_as_typed(value, r"\[\],")
    return f"{name}={value}"


def _each_as_typed(value: str, marks: str) -> str:
    """`value` with the texts between these marks in quotes, without the spaces around them."""
    text = re.compile(rf"(?:^|(?<=[{marks}]))\s*((?:{QUOTED})(?=\s*(?:[{marks}]|$))|[^{marks}]+)")
    return text.sub(lambda found: as_typed(found[1].strip()), value)


def as_typed(text: str) -> str:
    """The text in quotes. A text that already has quotes, and null, which means no value, are not changed."""
    return text if re.fullmatch(rf"(?:{QUOTED}|null|)", text) else quoted(text)


def with_outside_names(overrides: Sequence[str]) -> list[str]:
    """The overrides as Hydra needs them for games and networks that have no file in conf/, and parameters of games.

    An option of the groups `game`, `architecture` and `learner` is a file in conf/. Objects from outside this package
    and boards of other sizes have no such file, so their names are set directly:

    - `game=my_module:MyGame` becomes `game.name=my_module:MyGame`
    - `game=othello_6x6` becomes `game.name=othello_6x6`
    - `game.komi=5.5` and `game.parameters.komi=5.5` become `+game.parameters.komi=5.5`
    - `architecture=my_module:MyNetwork` becomes `architecture=custom architecture.name=my_module:MyNetwork`, and
      likewise for `learner`
    """
    changed: list[str] = []
    for override in overrides:
        key, _, value = override.partition("=")
        is_name = key in GROUPS_OF_OBJECTS and value[:1] not in ("[", "{")
        names = value.split(",")
        if is_name and any(_is_outside(key, name) for name in names):
            # Hydra reads only letters from a to z without quotes.
            written = ",".join(name if name.isascii() and "=" not in name else as_typed(name) for name in names)
            changed += [*([] if key == "game" else [f"{key}=custom"]), f"{key}.name={written}"]
        elif key == PARAMETERS:
            changed.append(f"+{override}")
        elif (named := PARAMETER.fullmatch(key)) and (named[1] or named[2] not in GameSettings.__dataclass_fields__):
            changed.append(f"{ADDED_PARAMETER}{named[2]}={value}")
        else:
            changed.append(override)
    return changed


def is_group(folder: Path, name: str) -> bool:
    """Whether a setting is the choice of a file in a folder with the layout of conf/."""
    # Path.is_dir raises OSError for a name that is too long for a folder.
    return os.path.isdir(folder / name)  # noqa: PTH112


@cache
def options_of_group(group: str) -> tuple[str, ...]:
    """The names of the files of a group of conf/."""
    return tuple(sorted(path.stem for path in (CONFIG_FOLDER / group).glob("*.yaml")))


def unknown_option(group: str, option: str, options: Sequence[str]) -> str:
    """The message for an option that a group does not have."""
    boards = "; a board of another size is written as in hex_5x5" if group == "game" else ""
    return f"{group}={shortened(option)}: choose from {', '.join(options)}{boards}{own_name(option)}"


def _is_outside(group: str, name: str) -> bool:
    if name in options_of_group(group):
        return False
    if ":" in name or (group == "game" and (parts_of_game_name(name)[1:] != (None, {}) or name in SPIEL_NAMES)):
        return True
    return name.isidentifier() and offers(GROUPS_OF_OBJECTS[group], name)


@cache
def typed(kind: Any) -> DictConfig:
    """The defaults of all fields of a class of settings, with their types."""
    config = OmegaConf.structured(kind)
    _allow_changes(config)
    return cast(DictConfig, config)


def _allow_changes(config: DictConfig) -> None:
    """Let values be set in the sections whose classes are frozen; OmegaConf marks these as read-only."""
    OmegaConf.set_readonly(config, None)
    for name in config:
        section = OmegaConf.select(config, str(name), throw_on_missing=False)
        if isinstance(section, DictConfig):
            _allow_changes(section)


@contextmanager
def errors_of_settings(kind: type[Any]) -> Iterator[None]:
    """Turn errors of Hydra and OmegaConf in the block into a SettingError that begins with the setting.

    `kind`: the class of the settings.
    """
    try:
        yield
    except SelfPlayError:
        raise
    except MissingConfigException as missing:
        group, _, option = (missing.missing_cfg_file or "").partition("/")
        known = unknown_option(group, option, missing.options or ())
        raise SettingError(known if missing.options else " ".join(str(missing).split())) from missing
    except OverrideParseException as unread:
        given = shortened(unread.override)
        key = given.partition("=")[0]
        raise SettingError(
            f"{given}: cannot be read; write a list as [1,2], and a text with special characters in two "
            f"pairs of quotes, because the shell takes one away: '{key}=\"TEXT\"'"
        ) from unread
    except (HydraException, OmegaConfBaseException, ValueError, TypeError) as raised:
        error = raised.__cause__ if isinstance(raised.__cause__, OmegaConfBaseException) else raised
        if isinstance(error, ConfigAttributeError | ConfigKeyError) and error.full_key:
            raise SettingError(unknown_setting(error.full_key, kind, error.parent_node)) from raised
        # The message of an error of Hydra or OmegaConf on one line, without the details that OmegaConf adds.
        text = " ".join(str(error).partition("\n    full_key")[0].split())
        if isinstance(error, OmegaConfBaseException) and (name := error.full_key):
            value = "null" if error.value is None else shortened(error.value)
            given = f"{name}={value}" if isinstance(error, ValidationError) else name
            wanted = TYPES.get(text.partition(" (type")[0].rpartition(" ")[2].strip("'"))
            text = f"{given}: must be {wanted}" if wanted else f"{given}: {text}"
            text += f", such as [{value}]" if wanted == TYPES["tuple."] else ""
        raise SettingError(text) from raised


def options_of_network(name: str | None) -> list[str]:
    """The options of an architecture, such as architecture.phases; none if it is named module:Class."""
    return [f"architecture.{option}" for option in option_defaults(name)] if name and name in ARCHITECTURES else []


def unknown_setting(name: str, kind: Any, section: Any = None) -> str:
    """The line about a setting with an unknown name.

    `section`: the configuration in which it was not found, if there is one.
    """
    unknown, within = f"unknown setting {shortened(name)!r}", name.rpartition(".")[0]
    if within == "architecture":
        if section and (options := options_of_network(section.name)):
            return f"{unknown}; architecture={section.name} has {', '.join(options)}"
        return f"{unknown}; an option of a network of your own is written +{shortened(name)}=VALUE"
    if get_origin(getattr(field_of(kind, within), "type", None)) is dict and section:
        return f"{unknown}; {within} has {', '.join(section)}"
    last = name.rpartition(".")[2]
    if kind is Learner or "learner" in kind.__dataclass_fields__:
        owners = [f"learner={one}" for one in LEARNERS if last in LEARNERS[one].parameters()]
        if owners:
            return f"{unknown}; {' and '.join(owners)} {'have' if owners[1:] else 'has'} learner.{last}"
    # Compared without their sections, because the user may have left these out.
    names = dict(dotted(OmegaConf.to_container(typed(kind))))
    known = {full.rpartition(".")[2]: full for full in names}
    # Letters in the wrong order are the likeliest mistake.
    close = sorted(get_close_matches(last, known), key=lambda one: sorted(one) != sorted(last))
    guess = f"did you mean {known[close[0]]}? " if close else ""
    return f"{unknown}; {guess}--help-all shows all"


def dotted(values: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The dotted names of nested settings and their sections, with their values; inner sections before outer ones."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from dotted(value, f"{prefix}{name}.")
    yield from ((f"{prefix}{name}", value) for name, value in values.items())
