"""Errors of composed settings in one line, which begins with the setting; and the settings that there are."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache
from typing import Any, cast, get_origin

from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException, ValidationError

from selfplay.architectures import ARCHITECTURES, option_defaults
from selfplay.errors import SelfPlayError, SettingError, shortened
from selfplay.learners import LEARNERS, Learner
from selfplay.settings.fields import field_of

TYPES = {
    **dict.fromkeys(("Integer", "int"), "a whole number"),
    **dict.fromkeys(("Float", "float"), "a number"),
    **dict.fromkeys(("Boolean", "bool"), "true or false"),
    **dict.fromkeys(("String", "str"), "a text"),
    "tuple.": "a list",
}
"""The type that a value must have, by the last word of a message of OmegaConf."""


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
        group, _, option = (missing.missing_cfg_file or "").rpartition("/")
        known = f"{group}={shortened(option)}: choose from {', '.join(missing.options or ())}"
        if group == "game":
            known += "; a board of another size is written as in hex_5x5"
        raise SettingError(known if missing.options else " ".join(str(missing).split())) from missing
    except OverrideParseException as unread:
        given = shortened(unread.override)
        raise SettingError(
            f"{given}: cannot be read; write a list as [1,2], and a text with special characters in quotes"
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
    close = get_close_matches(last, known, 1)
    guess = f"did you mean {known[close[0]]}? " if close else ""
    return f"{unknown}; {guess}--help shows all"


def dotted(values: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The dotted names of nested settings and their sections, with their values; inner sections before outer ones."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from dotted(value, f"{prefix}{name}.")
    yield from ((f"{prefix}{name}", value) for name, value in values.items())
