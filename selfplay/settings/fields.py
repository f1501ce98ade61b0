"""Declarations and checks of the fields of settings: which stages' files a field affects, which values it may have.

    gamma: float = field(default=0.95, metadata=affects("generation") | within(0, 1))

The settings of a finished stage are recorded in its manifest, and a stage with the same record is not run again. The
record is derived from these declarations. If an older manifest does not contain a setting, its default is used.

Checks raise SettingError in one line.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from math import inf
from operator import index
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from selfplay.errors import SettingError, shortened
from selfplay.files import user_path
from selfplay.registry import Registry, is_module
from selfplay.settings.choices import PLAYERS, TARGET_RULES

SEEDS = -(2**63), 2**63 - 1
"""The smallest and the largest seed."""
LARGEST_COUNT = 10**9
"""The largest number of levels, matches, epochs and so on; larger numbers would never finish."""


class Range(NamedTuple):
    """The range of finite numbers that a field, or each entry of its list, may have; None: no such bound."""

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None

    def check(self, name: str, value: Any) -> None:
        """Raise SettingError unless the value of the setting with this dotted name is allowed."""
        numbers = value if isinstance(value, Sequence) else [value]
        valid = len(numbers) > 0 and all(map(self._holds, numbers))
        require(name, value, valid, f"{'one or more numbers ' if numbers is value else ''}{self}")

    def _holds(self, number: float) -> bool:
        return (
            abs(number) < inf
            and (self.least is None or number >= self.least)
            and (self.most is None or number <= self.most)
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
        )

    def __str__(self) -> str:
        if self.least is not None:
            return f"{self.least} or more" if self.most is None else f"from {self.least} to {self.most:,}"
        bounds = {"above": self.above, "below": self.below, "at most": self.most}
        return " and ".join(f"{words} {bound}" for words, bound in bounds.items() if bound is not None)


Condition = Callable[[Any, int], bool]
"""Called with (all settings, level): whether a field affects the result of a stage at this level."""


class Leaf(NamedTuple):
    """A field with a value, found inside nested settings."""

    name: str
    """Dotted, as on the command line."""
    field: Field[Any]
    value: Any
    affected: Mapping[str, Condition]
    """The stages that it affects, including those of the enclosing section, each with its condition."""


def affects(*stages: str, **conditions: Condition) -> dict[str, Any]:
    """Metadata of a field that changes the results of these stages: always, or if a condition holds.

    `|` joins it with other metadata. For a section of settings it applies to all fields of the section.
    """
    return {"affects": dict.fromkeys(stages, lambda _settings, _level: True) | conditions}


UNLESS_DEFAULT = {"is_recorded_unless_default": True}
"""Metadata of a field that is recorded for a stage only if it differs from its default."""


def unrecorded(value: Any) -> dict[str, Any]:
    """Metadata of a field that earlier versions did not have: their runs are as if it had this value."""
    return {"unrecorded": value}


RECORDED_AS = {"game.name": "game", "dataset.format": "format", "dataset.shard_matches": "shard_matches"}
"""The settings that have another name in the record of a stage."""


def within(*bounds: float, **named: float) -> dict[str, Any]:
    """Metadata of a field that holds a finite number in the `Range` with these bounds, or a list of one or more."""
    return {"range": Range(*bounds, **named)}


def count(least: int) -> dict[str, Any]:
    """Metadata of a field that holds a count, from `least` to LARGEST_COUNT."""
    return within(least, LARGEST_COUNT)


def one_of(*choices: str) -> dict[str, Any]:
    """Metadata of a field that holds one of these texts."""
    return {"choices": choices}


def one_in(registry: Registry[Any]) -> dict[str, Any]:
    """Metadata of a field that holds a name in this registry, or a `module:attribute` that can be imported."""
    return {"registry": registry}


PATH = {"is_path": True}
"""Metadata of a field that holds a path, see `selfplay.files.user_path`."""

EACH_COMMAND = {"is_of_each_command": True}
"""Metadata of a field that later commands do not take over from the run."""

LATER_LEVEL = 2
"""A level at which all settings have their effect; some have none at levels 0 and 1."""

PLAYER_NAME = {"is_player_name": True}
"""Metadata of a field that holds the names of players; `--help` then lists the possible names."""

PERSON = "human"
PLAYER_OR_PERSON = PLAYER_NAME | {"may_be_person": True}
"""Metadata of a field that holds the name of a player, or PERSON."""


def stage_record(settings: Any, *stages: str, level: int = 0) -> dict[str, Any]:
    """The settings that affect what any of these stages produces at `level`, nested as in the manifest."""
    record: dict[str, Any] = {}
    for leaf in leaves(settings):
        is_usual = UNLESS_DEFAULT.keys() <= leaf.field.metadata.keys() and leaf.value == default_of_field(leaf.field)
        if not is_usual and any(holds(settings, level) for holds in _conditions(leaf, stages)):
            *sections, last = RECORDED_AS.get(leaf.name, leaf.name).split(".")
            place = record
            for section in sections:
                place = place.setdefault(section, {})
            place[last] = leaf.value
    return record


def run_record(settings: Any) -> dict[str, Any]:
    """Every setting that affects the files of a run with several levels, by its dotted name on the command line."""
    return {
        leaf.name: leaf.value
        for leaf in leaves(settings)
        if not EACH_COMMAND.keys() <= leaf.field.metadata.keys()
        and any(holds(settings, LATER_LEVEL) for holds in leaf.affected.values())
    }


def recorded_defaults(settings: Any, *stages: str) -> dict[str, Any]:
    """What each setting that affects these stages is where it is not recorded, by its dotted name in the manifest."""
    found = (leaf for leaf in leaves(settings) if _conditions(leaf, stages))
    return {
        RECORDED_AS.get(leaf.name, leaf.name): leaf.field.metadata.get("unrecorded", default_of_field(leaf.field))
        for leaf in found
    }


def leaves(settings: Any, prefix: str = "", inherited: Mapping[str, Condition] | None = None) -> Iterator[Leaf]:
    """All fields of nested settings that hold values, not sections."""
    for field in fields(settings):
        name, value = f"{prefix}{field.name}", getattr(settings, field.name)
        affected = {**(inherited or {}), **field.metadata.get("affects", {})}
        if is_dataclass(value):
            yield from leaves(value, f"{name}.", affected)
        else:
            yield Leaf(name, field, value, affected)


def _conditions(leaf: Leaf, stages: tuple[str, ...]) -> list[Condition]:
    return [leaf.affected[stage] for stage in stages if stage in leaf.affected]


def default_of_field(field: Field[Any]) -> Any:
    """The field's default; dataclasses.MISSING if it has none."""
    return field.default if field.default_factory is MISSING else field.default_factory()


def field_of(kind: Any, name: str) -> Field[Any] | None:
    """The field of the setting with this dotted name; None if there is none."""
    field = None
    for part in name.split("."):
        field = getattr(kind, "__dataclass_fields__", {}).get(part)
        kind = None if field is None else field.type
    return field


def check_fields(settings: Any) -> None:
    """Raise SettingError for the first value of these settings that its field does not allow."""
    for name, field, value, _ in leaves(settings):
        declared = field.metadata
        # Only a field of an optional type holds None.
        if (allowed := declared.get("range")) is not None and value is not None:
            allowed.check(name, value)
        if (choices := declared.get("choices")) is not None:
            require(name, value, value in choices, " or ".join(choices))
        if (registry := declared.get("registry")) is not None:
            if ":" in value:
                registry[value]  # raises if it cannot be imported
            elif value not in registry:
                # Not listed before it is needed, because listing reads the entry points of all installed packages.
                require(name, value, False, " or ".join(registry))
        if "is_player_name" in declared:
            require_players(name, value, or_person="may_be_person" in declared)


def require(name: str, value: object, valid: bool, allowed: str) -> None:
    """Raise SettingError, naming the setting and what is allowed, unless its value is valid."""
    if not valid:
        raise SettingError(f"{name}={shortened(value)}: must be {allowed}")


def rule_has(targets: str, declaration: str) -> bool:
    """Whether the target rule with this name is marked with this declaration, see `selfplay.dataset.target_rules`."""
    return bool(getattr(TARGET_RULES[targets], declaration, False))


def whole_number(name: str, value: Any, bounds: Range | None = None) -> int:
    """An argument as an int, such as a number of numpy. Raises SettingError if it is not whole or out of range."""
    try:
        number = index(value)
    except TypeError as error:
        raise SettingError(f"{name}={shortened(repr(value))}: must be a whole number") from error
    if bounds is not None:
        bounds.check(name, number)
    return number


def folder_of(name: str, value: Any) -> Path:
    """An argument as the path of a folder. Raises SettingError if it is not a path."""
    require(name, value, isinstance(value, str | PathLike), "the path of a folder")
    return user_path(value)


WORD_BEFORE_COLON = re.compile(r"(?:^|=)([A-Za-z_][\w.]*):")
"""A word that may name a module, at the beginning of a text or of the value of an option."""


def modules_in(value: object) -> Iterator[str]:
    """The modules that a setting with this value names, in `module:attribute` or in the name of a player."""
    for text in texts_in(value):
        for word in WORD_BEFORE_COLON.findall(text):
            if word not in PLAYERS:
                yield word


def commands_in(value: object) -> Iterator[str]:
    """The names of players in a setting with this value that start a program."""
    for text in texts_in(value):
        word = WORD_BEFORE_COLON.match(text)
        if word and word[1] in PLAYERS and getattr(PLAYERS[word[1]], "is_command", False):
            yield text


def texts_in(value: object) -> Iterator[str]:
    """All texts in nested lists and mappings."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from texts_in(inner)


def require_players(setting: str, names: object, *, or_person: bool) -> None:
    """Raise SettingError unless each text in `names` begins with a kind of players, or names a player in a module."""
    for text in texts_in(names):
        word = re.split("[:?]", text, maxsplit=1)[0]
        if word == PERSON and not or_person:
            raise SettingError(f"{setting}={shortened(text)}: a person can only play with selfplay play")
        if word in PLAYERS:
            continue
        if not (":" in text and is_module(word)):
            known = ", ".join(PLAYERS)
            raise SettingError(f"unknown player {shortened(text)!r} in {setting}; choose from {known}, or module:Class")
        named = re.split("[:?]", text)
        found = PLAYERS[f"{word}:{named[1]}"]
        if not (hasattr(found, "act") or hasattr(found, "make")):
            raise SettingError(f"{setting}={shortened(text)}: not a subclass of selfplay.Player, nor a PlayerKind")
