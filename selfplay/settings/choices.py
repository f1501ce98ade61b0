"""The registries from which settings choose by name, and to which other packages can add.

They are defined here, below the packages that use them, so that settings can reject an unknown name.
"""

from typing import TYPE_CHECKING, Any

from selfplay.registry import Registry

if TYPE_CHECKING:
    from selfplay.games.game import Outcome

OUTCOMES: "Registry[Outcome]" = Registry(
    "outcome",
    {
        "return": "selfplay.games.game:match_return",
        "disc_difference": "selfplay.games.game:disc_difference",
    },
    group="selfplay.outcomes",
    arguments=("game",),
)
"""What players maximise: see `selfplay.games.game.Outcome`."""

TARGET_RULES: Registry[Any] = Registry(
    "target rule",
    {
        name: f"selfplay.dataset.target_rules:{name}"
        for name in ("full", "watkins", "best_response", "rootstrap", "search")
    },
    group="selfplay.targets",
    arguments=("played",),
)
"""The targets of a level's rows: see `selfplay.dataset.target_rules`."""

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
    arguments=("peak", "step", "total_steps"),
)
"""(peak, step, total_steps) to the learning rate of a step: see `selfplay.training.trainer`."""

DATASET_FORMATS: Registry[Any] = Registry(
    "dataset format",
    {"csv": "selfplay.dataset.formats:CSV", "parquet": "selfplay.dataset.formats:PARQUET"},
    group="selfplay.dataset_formats",
    attributes=("suffix", "has_parts"),
)
"""How a level's rows are stored: see `selfplay.dataset.formats`."""

EXECUTORS: Registry[Any] = Registry(
    "executor",
    {
        "serial": "selfplay.executors:SerialExecutor",
        "process": "selfplay.executors.processes:ProcessExecutor",
        "ray": "selfplay.executors.ray:RayExecutor",
    },
    group="selfplay.executors",
    attributes=("map", "close"),
)
"""Classes that run the parts of a stage: see `selfplay.executors.Executor`."""

SEARCH_RULES: Registry[Any] = Registry(
    "rule of tree search",
    {
        "puct": "selfplay.search.mcts.puct:puct",
        "gumbel": "selfplay.search.mcts.gumbel:gumbel",
        "uct": "selfplay.search.mcts.rule:uct",
    },
    group="selfplay.search_rules",
    arguments=(),
)
"""Functions from constants to rules: see `selfplay.search.mcts.rule`."""

PRETRAINED = "pretrained"
"""Names the agent of a game that comes with the program: a player, and an evaluation of searches."""

PLAYERS: Registry[Any] = Registry(
    "player",
    {
        "level": "selfplay.players.kinds.agents:level",
        PRETRAINED: "selfplay.players.kinds.agents:pretrained",
        "search": "selfplay.players.kinds.search:search",
        "mcts": "selfplay.players.kinds.mcts:mcts",
        "random": "selfplay.players.kinds.others:random",
        "tabular": "selfplay.players.kinds.classical:tabular",
        "experience": "selfplay.players.kinds.classical:experience",
        "greedy_discs": "selfplay.players.kinds.search:greedy_discs",
        "perfect": "selfplay.players.kinds.others:perfect",
        "policy": "selfplay.players.kinds.agents:policy",
        "gtp": "selfplay.players.kinds.others:gtp",
        "openspiel": "selfplay.players.kinds.others:openspiel",
        "human": "selfplay.players.kinds.others:human",
    },
    group="selfplay.players",
)
"""The kinds of players, in the order in which --help and the page list them: each is a
`selfplay.players.player_names.PlayerKind`, or a Player class whose only argument is a game."""
