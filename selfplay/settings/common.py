"""How the fields of settings are declared, and the settings that several programs share (conf/common.yaml).

    gamma: float = field(default=0.95, metadata=read_by("generation") | within(0, 1))

A field says which stages read it, and what its value names; which values it may have is declared with
`selfplay.checks`. A finished stage has recorded all settings that it reads in its manifest, and a stage with the same
record is not run again. If a manifest does not contain a setting, its default is used.

The classes are small, so that the settings of a program are those that it reads.
"""

import re
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from typing import Any, NamedTuple, TypeVar

from selfplay.checks import PLAYER_NAME, SEEDS, check_field, count, fields_of, require, within
from selfplay.compute.devices import CPU, chosen_device, computing_on, require_device
from selfplay.errors import SettingError, shortened
from selfplay.games import name_of_board
from selfplay.learners import LEARNERS, Learner
from selfplay.named_players.names import OF_A_MODULE, PLAYERS
from selfplay.registry import MODULE_NAME, is_module
from selfplay.runs.command_lines import COMMAND, DEFAULT_GAME
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
    for name, declared, value, _ in leaves(settings):
        programs = declared.metadata.get(PROGRAMS, (program,))
        if program not in programs and value != default_of_field(declared):
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


def default_of_field(declared: Field[Any]) -> Any:
    """The field's default; dataclasses.MISSING if it has none."""
    return declared.default if declared.default_factory is MISSING else declared.default_factory()


def recorded_defaults(settings: Any) -> dict[str, Any]:
    """What each setting is where it is not recorded, by its dotted name."""
    return {leaf.name: default_of_field(leaf.field) for leaf in leaves(settings)}


def leaves(settings: Any, prefix: str = "", stages: frozenset[str] = frozenset()) -> Iterator[Leaf]:
    """All fields of nested settings that hold values, not sections.

    A field has the stages of its section, unless it has its own.
    """
    for declared in fields(settings):
        name, value = f"{prefix}{declared.name}", getattr(settings, declared.name)
        of_field = declared.metadata.get("stages", stages)
        if is_dataclass(value):
            yield from leaves(value, f"{name}.", of_field)
        else:
            yield Leaf(name, declared, value, of_field)


def field_of(kind: Any, name: str) -> Field[Any] | None:
    """The field of the setting with this dotted name; None if there is none. A learner's may be of any learner."""
    found = None
    for part in name.split("."):
        kinds = [LEARNERS[one] for one in LEARNERS] if kind is Learner else [kind]
        declared = (getattr(one, "__dataclass_fields__", {}).get(part) for one in kinds)
        found = next((one for one in declared if one is not None), None)
        kind = None if found is None else found.type
    return found


def check_fields(settings: Any) -> None:
    """Raise SettingError for the first value of these settings that its field does not allow."""
    for name, declared, value, _ in leaves(settings):
        check_field(name, declared, value)
        if "is_path" in declared.metadata:
            require(name, value, value != "", "a path")
        if "is_player_name" in declared.metadata:
            require_players(name, value, or_person="may_be_person" in declared.metadata)


WORD_BEFORE_COLON = re.compile(rf"(?:^|=)({MODULE_NAME}):")
"""A word that may name a module, at the beginning of a text or of the value of an option."""
WORDS_BEFORE_COLONS = re.compile(rf"(?:^|=)((?:{MODULE_NAME}:)+)")
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
            known = f"{', '.join(PLAYERS)}, {OF_A_MODULE}"
            raise SettingError(f"unknown player {shortened(text)!r} in {setting}; choose from {known}")
        named = re.split("[:?]", text)
        found = PLAYERS[f"{word}:{named[1]}"]
        if not (hasattr(found, "act") or hasattr(found, "make")):
            raise SettingError(f"{setting}={shortened(text)}: not a subclass of selfplay.Player, nor a PlayerKind")


# ---------------------------------------------------------------------- settings that programs share

MOST_THREADS = 1024
SEARCH_THREADS = within(1, MOST_THREADS)
"""Metadata of the field of that name."""


@dataclass
class GameSettings:
    """The game (conf/game/)."""

    name: str = field(default=DEFAULT_GAME, metadata=read_by("generation", "training", "comparison", "tabular"))
    """The game's name, with the size or a parameter that is not the usual one: othello_6x6, go_7x7_komi=5.5."""
    size: int | None = None
    """Squares along a side of the board; null: the size in the name."""
    parameters: dict[str, Any] = field(default_factory=dict)
    """Other parameters of the game, written game.komi=5.5 (go: komi; gomoku: height, length, exact; hex: swap)."""

    def __post_init__(self) -> None:
        with fields_of("game", "size", *self.parameters):
            self.name = name_of_board(self.name, self.size, self.parameters)


@dataclass
class PlayerSettings:
    """How a level chooses actions."""

    depth: int = field(default=1, metadata=count(1))
    """Plies to look ahead: 1 to 3 for networks, any number for tables of patterns."""
    temperature: float = field(default=0.0, metadata=TEMPERATURE)
    """0: choose the best action; above 0: draw actions by their values at this temperature."""


@dataclass
class CommonSettings:
    """The settings of every program."""

    run_dir: str = field(metadata=PATH)
    """Folder of the files of the run; ~ is the home folder."""
    game: GameSettings = field(default_factory=GameSettings)
    modules: list[str] = field(default_factory=list)
    """Further modules outside this program that the files of a run may import."""

    def __post_init__(self) -> None:
        # Bytes of the command line that could not be decoded are not printable.
        is_path = self.run_dir.isprintable() and self.run_dir != ""
        # Only ASCII is printable if Python was told not to use UTF-8.
        advice = "" if sys.getfilesystemencoding() == "utf-8" else "; PYTHONUTF8=1 lets Python read others than ASCII"
        require("run_dir", ascii(self.run_dir), is_path, f"the path of a folder, in printable characters{advice}")
        for name in self.modules:
            require("modules", name, is_module(name), "modules that can be imported from here")
        check_fields(self)

    def chosen_device(self) -> str:
        """Where the program computes: cpu or cuda. Raises SettingError if there is no such device."""
        return CPU

    def computing(self) -> AbstractContextManager[None]:
        """In the block torch and searches have the numbers of threads that the settings name, if they name some.

        Raises as `chosen_device`.
        """
        return nullcontext()


@dataclass
class SeededSettings(CommonSettings):
    """The settings of programs that use random numbers."""

    seed: int = field(default=0, metadata=read_by("generation", "training", "comparison", "tabular") | within(*SEEDS))
    """The same seed gives the same bytes."""


@dataclass
class ComputingSettings(CommonSettings):
    """The settings of programs that compute with networks and searches."""

    threads: int = field(default=1, metadata=within(1, MOST_THREADS))
    """Threads of torch in one process; may change bytes with numerics=native."""
    search_threads: int | None = field(default=1, metadata=SEARCH_THREADS)
    """Threads of a long search of one position; does not change the result. null: one per core."""

    def computing(self) -> AbstractContextManager[None]:
        return computing_on(self.chosen_device(), self.threads, self.search_threads)


@dataclass
class LockstepSettings(SeededSettings, ComputingSettings):
    """The settings of programs that play batches of matches in lockstep."""

    batch_size: int | None = field(default=None, metadata=count(1))
    """Matches in lockstep; does not change the results. null: 16,384 on the CPU, as many as fit on a GPU."""
    device: str = "auto"
    """Where matches are played and networks trained: cpu, cuda, or auto (a GPU if there is one)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_device(self.device)

    def chosen_device(self) -> str:
        return chosen_device(self.device)


AnySettings = TypeVar("AnySettings", bound=CommonSettings)
