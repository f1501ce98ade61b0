"""Declarations and checks of the fields of settings: which stages' files a field affects, which values it may have.

    gamma: float = field(default=0.95, metadata=affects("generation") | within(0, 1))

The settings of a finished stage are recorded in its manifest, and a stage with the same record is not run again. Both
the record and the defaults of settings that an older manifest does not know are derived from these declarations.

Checks raise SettingError in one line.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from math import inf
from typing import Any, NamedTuple

from selfplay.errors import SettingError, shortened
from selfplay.registry import Registry, is_module
from selfplay.settings.choices import PLAYERS, TARGET_RULES

LARGEST_COUNT = 10**9
"""The largest number of levels, matches, epochs and the like: more would not end."""


class Range(NamedTuple):
    """The numbers that a field may hold, or the entries of its list, which has one or more; None: no such bound."""

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    or_null: bool = False

    def check(self, name: str, value: Any) -> None:
        """Raise SettingError unless the value of the setting with this dotted name is allowed."""
        if value is None and self.or_null:
            return
        numbers = value if isinstance(value, Sequence) else [value]
        if self.most == LARGEST_COUNT and any(number > LARGEST_COUNT for number in numbers):
            # The value itself is not shown: it may have thousands of digits.
            raise SettingError(f"{name}: must be at most {LARGEST_COUNT:,}")
        valid = len(numbers) > 0 and all(map(self._holds, numbers))
        before = "one or more numbers " if numbers is value else ""
        require(name, value, valid, f"{before}{self}{', or null' if self.or_null else ''}")

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
            return (
                f"{self.least} or more" if self.most in (None, LARGEST_COUNT) else f"from {self.least} to {self.most}"
            )
        bounds = {"above": self.above, "below": self.below, "at most": self.most}
        return " and ".join(f"{words} {bound}" for words, bound in bounds.items() if bound is not None)


class Effect(NamedTuple):
    """How a field affects the files of one stage."""

    when: Callable[[Any, int], bool] | None
    """Whether it has an effect, given all settings and the level that the stage works on; None: always."""
    recorded_as: str | None
    """Its dotted name in the manifest; None: its name on the command line."""
    unless_default: bool
    """Whether it is recorded only where it differs from its default."""


class Leaf(NamedTuple):
    """A field with a value, found inside nested settings."""

    name: str
    """Dotted, as on the command line."""
    field: Field[Any]
    value: Any
    effects: Mapping[str, Effect]
    """The effects by stage, including those of the enclosing section."""


def affects(
    *stages: str,
    when: Callable[[Any, int], bool] | None = None,
    recorded_as: str | None = None,
    unless_default: bool = False,
) -> dict[str, Any]:
    """Metadata of a field that changes what these stages produce; `|` joins it with other metadata.

    On a field that holds a section of settings it counts for all fields of the section.
    """
    return dict.fromkeys(stages, Effect(when, recorded_as, unless_default))


def within(
    least: float | None = None,
    most: float | None = None,
    *,
    above: float | None = None,
    below: float | None = None,
    or_null: bool = False,
) -> dict[str, Any]:
    """Metadata of a field that holds a finite number in this range, or a list of such numbers."""
    return {"range": Range(least, most, above, below, or_null)}


def count(least: int, *, or_null: bool = False) -> dict[str, Any]:
    """Metadata of a field that counts: from `least` to LARGEST_COUNT."""
    return within(least, LARGEST_COUNT, or_null=or_null)


def one_of(*choices: str) -> dict[str, Any]:
    """Metadata of a field that holds one of these texts."""
    return {"choices": choices}


def one_in(registry: Registry[Any]) -> dict[str, Any]:
    """Metadata of a field that holds a name in this registry, or a `module:attribute` that can be imported."""
    return {"registry": registry}


EACH_COMMAND = {"is_of_each_command": True}
"""Metadata of a field that later commands do not take over from the run."""

LATER_LEVEL = 2
"""A level at which every setting has an effect that has one at any level."""

PLAYER_NAME = {"is_player_name": True}
"""Metadata of a field that holds the names of players; `--help` then lists the possible names."""

PERSON = "human"
PLAYER_OR_PERSON = PLAYER_NAME | {"may_be_person": True}
"""Metadata of a field that holds the name of a player, or PERSON."""


def stage_record(settings: Any, *stages: str, level: int = 0) -> dict[str, Any]:
    """The settings that affect what any of these stages produces at `level`, nested as in the manifest."""
    record: dict[str, Any] = {}
    for leaf in leaves(settings):
        effect = _effect(leaf, stages)
        if effect is None or not (effect.when is None or effect.when(settings, level)):
            continue
        if effect.unless_default and leaf.value == default_of_field(leaf.field):
            continue
        *sections, last = (effect.recorded_as or leaf.name).split(".")
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
        if not leaf.field.metadata.keys() & EACH_COMMAND.keys()
        and any(effect.when is None or effect.when(settings, LATER_LEVEL) for effect in leaf.effects.values())
    }


def recorded_defaults(settings: Any, *stages: str) -> dict[str, Any]:
    """The default of each setting that affects these stages, by its dotted name in the manifest."""
    effects = ((leaf, _effect(leaf, stages)) for leaf in leaves(settings))
    return {effect.recorded_as or leaf.name: default_of_field(leaf.field) for leaf, effect in effects if effect}


def leaves(settings: Any, prefix: str = "", inherited: Mapping[str, Effect] | None = None) -> Iterator[Leaf]:
    """All fields of nested settings that hold values, not sections."""
    for field in fields(settings):
        value = getattr(settings, field.name)
        own = {name: effect for name, effect in field.metadata.items() if isinstance(effect, Effect)}
        effects = {**(inherited or {}), **own}
        name = f"{prefix}{field.name}"
        if is_dataclass(value):
            yield from leaves(value, f"{name}.", effects)
        else:
            yield Leaf(name, field, value, effects)


def default_of_field(field: Field[Any]) -> Any:
    """The field's default; dataclasses.MISSING if it has none."""
    return field.default if field.default_factory is MISSING else field.default_factory()


def _effect(leaf: Leaf, stages: tuple[str, ...]) -> Effect | None:
    return next((leaf.effects[stage] for stage in stages if stage in leaf.effects), None)


def check_fields(settings: Any) -> None:
    """Raise SettingError for the first value of these settings that its field does not allow."""
    for name, field, value, _ in leaves(settings):
        declared = field.metadata
        if (allowed := declared.get("range")) is not None:
            allowed.check(name, value)
        if (choices := declared.get("choices")) is not None:
            require(name, value, value in choices, " or ".join(choices))
        if (registry := declared.get("registry")) is not None:
            if ":" in value:
                registry[value]  # raises if it cannot be imported
            elif value not in registry:
                # Listed only here, because listing reads the entry points of all installed packages.
                require(name, value, False, " or ".join(registry))
        if "is_player_name" in declared:
            require_players(name, value, or_person="may_be_person" in declared)


def require(name: str, value: object, valid: bool, allowed: str) -> None:
    """Raise SettingError, naming the setting and what is allowed, unless its value is valid."""
    if not valid:
        raise SettingError(f"{name}={shortened(value)}: must be {allowed}")


def rule_has(targets: str, declaration: str) -> bool:
    """Whether the target rule with this name makes a declaration of `selfplay.dataset.target_rules`."""
    return bool(getattr(TARGET_RULES[targets], declaration, False))


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
    """Raise SettingError unless all texts in `names` begin with a kind of players, or name a player in a module."""
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
