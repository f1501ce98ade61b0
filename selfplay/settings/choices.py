"""The registries from which settings choose by name, and to which other packages can add.

They are defined here, below the packages that use them, so that settings can reject an unknown name.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from selfplay.errors import SettingError, shortened
from selfplay.registry import Registry, is_module
from selfplay.settings.checks import require

if TYPE_CHECKING:
    from selfplay.games.match_outcome import Outcome

OUTCOMES: "Registry[Outcome]" = Registry(
    "outcome",
    {
        "return": "selfplay.games.match_outcome:match_return",
        "disc_difference": "selfplay.games.match_outcome:disc_difference",
    },
    group="selfplay.outcomes",
    attributes=("__call__",),
)
"""What players maximise: see `selfplay.games.match_outcome.Outcome`."""

TARGET_RULES: Registry[Any] = Registry(
    "target rule",
    {
        "full": "selfplay.dataset.target_rules:full",
        "watkins": "selfplay.dataset.target_rules:watkins",
        "best_response": "selfplay.dataset.target_rules:best_response",
        "rootstrap": "selfplay.dataset.target_rules:rootstrap",
        "search": "selfplay.dataset.target_rules:search",
    },
    group="selfplay.targets",
    attributes=("__call__",),
)
"""The targets of a level's rows: see `selfplay.dataset.target_rules`."""


def rule_has(targets: str, declaration: str) -> bool:
    """Whether the target rule with this name makes a declaration of `selfplay.dataset.target_rules`."""
    return bool(getattr(TARGET_RULES[targets], declaration, False))


OPTIMIZERS: Registry[Any] = Registry(
    "optimizer",
    {
        "adam": "selfplay.training.batch_training:BatchTraining",
        "sgd": "selfplay.training.row_by_row:RowByRowTraining",
    },
    group="selfplay.optimizers",
    attributes=("runs_on_cpu_only", "run_epoch"),
)
"""Classes that train networks: see `selfplay.training.trainer.Trainer`."""

SCHEDULES: Registry[Any] = Registry(
    "schedule",
    {"constant": "selfplay.training.trainer:constant", "one_cycle": "selfplay.training.trainer:one_cycle"},
    group="selfplay.schedules",
    attributes=("__call__",),
)
"""(peak, step, total_steps) to the learning rate of a step: see `selfplay.training.trainer`."""

DATASET_FORMATS: Registry[Any] = Registry(
    "dataset format",
    {"csv": "selfplay.dataset.formats:CSV", "parquet": "selfplay.dataset.formats:PARQUET"},
    group="selfplay.dataset_formats",
    attributes=("suffix", "has_parts"),
)
"""How a level's rows are stored: see `selfplay.dataset.formats.DatasetFormat`."""

EXECUTORS: Registry[Any] = Registry(
    "executor",
    {
        "serial": "selfplay.executors.executor:SerialExecutor",
        "process": "selfplay.executors.processes:ProcessExecutor",
        "ray": "selfplay.executors.ray:RayExecutor",
    },
    group="selfplay.executors",
    attributes=("map", "close"),
)
"""Classes that run the parts of a stage: see `selfplay.executors.executor.Executor`."""

SEARCH_RULES: Registry[Any] = Registry(
    "rule of tree search",
    {
        "puct": "selfplay.search.mcts.puct:puct",
        "gumbel": "selfplay.search.mcts.gumbel:gumbel",
        "uct": "selfplay.search.mcts.rule:uct",
    },
    group="selfplay.search_rules",
    attributes=("__call__",),
)
"""Functions from constants to rules: see `selfplay.search.mcts.rule`."""

PRETRAINED = "pretrained"
"""Names the agent of a game that comes with the program: a player, and an evaluation of searches."""

PLAYERS: Registry[Any] = Registry(
    "player",
    {
        "random": "selfplay.players.kinds.others:RANDOM",
        "perfect": "selfplay.players.kinds.others:PERFECT",
        "level": "selfplay.players.kinds.agents:LEVEL",
        PRETRAINED: "selfplay.players.kinds.agents:PRETRAINED_AGENT",
        "tabular": "selfplay.players.kinds.tabular:KIND",
        "experience": "selfplay.players.kinds.experience:KIND",
        "search": "selfplay.players.kinds.search:KIND",
        "mcts": "selfplay.players.kinds.mcts:KIND",
        "policy": "selfplay.players.kinds.agents:POLICY",
        "greedy_discs": "selfplay.players.kinds.search:GREEDY_DISCS",
        "gtp": "selfplay.players.kinds.others:GTP",
        "openspiel": "selfplay.players.kinds.others:OPENSPIEL",
        "human": "selfplay.players.kinds.others:HUMAN",
    },
    group="selfplay.players",
)
"""The kinds of players: each a `selfplay.players.player_names.PlayerKind`, or a Player class whose only argument is a
game."""

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


def require_players(setting: str, names: object) -> None:
    """Raise SettingError unless all texts in `names` begin with a kind of players, or name a module that exists."""
    for text in texts_in(names):
        word = re.split("[:?]", text, maxsplit=1)[0]
        if word not in PLAYERS and not (":" in text and is_module(word)):
            known = ", ".join(PLAYERS)
            raise SettingError(f"unknown player {shortened(text)!r} in {setting}; choose from {known}, or module:Class")


def require_choice(setting: str, name: str, registry: Registry[Any]) -> None:
    """Raise SettingError unless `name` is in the registry, or is a `module:attribute` that can be imported."""
    if ":" in name:
        registry[name]
    elif name not in registry:
        # Listed only here, because listing reads the entry points of all installed packages.
        require(setting, name, False, " or ".join(registry))
