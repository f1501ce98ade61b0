"""Declarations of the fields of settings: which stages read a field, and what its value names.

    gamma: float = field(default=0.95, metadata=read_by("generation") | within(0, 1))

A finished stage has recorded all settings that it reads in its manifest, and a stage with the same record is not run
again. If a manifest does not contain a setting, its default is used.

Which values a field may have is declared with `selfplay.checks`.
"""

import re
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, NamedTuple

from selfplay.checks import PLAYER_NAME, check_field, require, within
from selfplay.errors import SettingError, shortened
from selfplay.learners import LEARNERS, Learner
from selfplay.named_players.names import PLAYERS
from selfplay.registry import is_module
from selfplay.runs.command_lines import COMMAND
from selfplay.runs.manifest import flat_settings, texts_in


class Leaf(NamedTuple):
    """A field with a value, found inside nested settings."""

    name: str
    """Dotted, as on the command line."""
    field: Field[Any]
    value: Any
    stages: frozenset[str]
    """The stages that read it, including those of the enclosing section."""


def read_by(*stages: str) -> dict[str, Any]:
    """Metadata of a field that these stages read, RUN for the loop itself; `|` joins it with other metadata.

    For a section of settings it applies to all fields of the section that do not have their own.
    """
    return {"stages": frozenset(stages)}


PATH = {"is_path": True}
"""Metadata of a field that holds a path, see `selfplay.files.user_path`."""

ARGUMENT = "is_argument"
IS_ARGUMENT = {ARGUMENT: True}
"""Metadata of the field of a program that an argument without a name is the value of."""

TEMPERATURE = within(0, 10**6)
"""Metadata of a field that holds a temperature; at the highest, all actions are equally likely."""

EACH_COMMAND = {"is_of_each_command": True}
"""Metadata of a field that later commands do not take over from the run."""

PROGRAMS = "programs"


def only_in(*programs: str) -> dict[str, Any]:
    """Metadata of a field of the settings of a run that only these programs read; in the others it has its default."""
    return {PROGRAMS: programs}


def check_program(settings: Any, program: str) -> None:
    """Raise SettingError for a setting that only programs other than this one read, unless it has its default."""
    for name, field, value, _ in leaves(settings):
        programs = field.metadata.get(PROGRAMS, (program,))
        if program not in programs and value != default_of_field(field):
            raise SettingError(f"{name}={value}: only for {COMMAND} {', '.join(programs)}")


PERSON = "human"
PLAYER_OR_PERSON = PLAYER_NAME | {"may_be_person": True}
"""Metadata of a field that holds the name of a player, or PERSON."""


def stage_record(settings: Any, stage: str) -> dict[str, Any]:
    """Every setting that this stage reads, by its dotted name."""
    return flat_settings({leaf.name: leaf.value for leaf in leaves(settings) if stage in leaf.stages})


def run_record(settings: Any) -> dict[str, Any]:
    """Every setting that a stage or the loop reads, by its dotted name; not those of each command."""
    return {
        leaf.name: leaf.value
        for leaf in leaves(settings)
        if leaf.stages and not EACH_COMMAND.keys() <= leaf.field.metadata.keys()
    }


def default_of_field(field: Field[Any]) -> Any:
    """The field's default; dataclasses.MISSING if it has none."""
    return field.default if field.default_factory is MISSING else field.default_factory()


def recorded_defaults(settings: Any) -> dict[str, Any]:
    """What each setting is where it is not recorded, by its dotted name."""
    return {leaf.name: default_of_field(leaf.field) for leaf in leaves(settings)}


def leaves(settings: Any, prefix: str = "", stages: frozenset[str] = frozenset()) -> Iterator[Leaf]:
    """All fields of nested settings that hold values, not sections.

    A field has the stages of its section, unless it has its own.
    """
    for field in fields(settings):
        name, value = f"{prefix}{field.name}", getattr(settings, field.name)
        of_field = field.metadata.get("stages", stages)
        if is_dataclass(value):
            yield from leaves(value, f"{name}.", of_field)
        else:
            yield Leaf(name, field, value, of_field)


def field_of(kind: Any, name: str) -> Field[Any] | None:
    """The field of the setting with this dotted name; None if there is none. A learner's may be of any learner."""
    field = None
    for part in name.split("."):
        kinds = [LEARNERS[one] for one in LEARNERS] if kind is Learner else [kind]
        field = next(
            (found for one in kinds if (found := getattr(one, "__dataclass_fields__", {}).get(part)) is not None), None
        )
        kind = None if field is None else field.type
    return field


def check_fields(settings: Any) -> None:
    """Raise SettingError for the first value of these settings that its field does not allow."""
    for name, field, value, _ in leaves(settings):
        check_field(name, field, value)
        declared = field.metadata
        if "is_path" in declared:
            require(name, value, value != "", "a path")
        if "is_player_name" in declared:
            require_players(name, value, or_person="may_be_person" in declared)


WORD_BEFORE_COLON = re.compile(r"(?:^|=)([A-Za-z_][\w.]*):")
"""A word that may name a module, at the beginning of a text or of the value of an option."""
WORDS_BEFORE_COLONS = re.compile(r"(?:^|=)((?:[A-Za-z_][\w.]*:)+)")
"""The same with the words that follow it, such as those of `mcts:my_module:MyEvaluator`."""


def modules_in(value: object) -> Iterator[str]:
    """The modules that a setting with this value names, in `module:attribute` or in the name of a player."""
    for text in texts_in(value):
        for words in WORDS_BEFORE_COLONS.findall(text):
            # Of a name in a name, such as that of an evaluator of tree search.
            yield from [word for word in words.split(":") if word and word not in PLAYERS][:1]


def commands_in(value: object) -> Iterator[str]:
    """The names of players in a setting with this value that start a program."""
    for text in texts_in(value):
        word = WORD_BEFORE_COLON.match(text)
        if word and word[1] in PLAYERS and getattr(PLAYERS[word[1]], "is_command", False):
            yield text


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
