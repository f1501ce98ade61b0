"""`mcts:EVALUATOR`: Monte-Carlo tree search with a level's network or with random rollouts."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfplay.errors import SettingError
from selfplay.players.mcts_offers import mcts_offers
from selfplay.players.offers import Offering
from selfplay.players.player_names import Option, PlayerKind, PlayerName, whole_number
from selfplay.registry import Registry
from selfplay.runs.pretrained import pretrained_agents
from selfplay.settings.choices import PRETRAINED

if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.player import Player

EVALUATORS: "Registry[Callable[[str, PlayerName, Game, Path], Any]]" = Registry(
    "evaluator",
    {
        "rollouts": "selfplay.players.mcts_evaluators:rollouts",
        "level": "selfplay.players.mcts_evaluators:level",
        PRETRAINED: "selfplay.players.mcts_evaluators:pretrained",
    },
    group="selfplay.mcts_evaluators",
)
"""By the first word after `mcts:`, functions (the text after a second colon, name, game, run_dir) to an evaluator."""

DEFAULT_RULES = {"rollouts": "uct"}
"""The rule with an evaluator if the name does not give one; puct with all others."""

CONSTANTS = tuple(
    Option(name, float)
    for name in (
        *("c", "c_init", "c_base", "unvisited", "noise", "alpha"),
        *("c_visit", "c_scale", "considered", "gumbel_scale"),
    )
)
"""The constants of the rules; each rule checks those that are given."""


def _make(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.mcts import MctsPlayer
    from selfplay.search.mcts.rule import make_rule
    from selfplay.search.mcts.tree_search import TreeSearch

    kind, _, argument = name.argument.partition(":")
    if kind not in EVALUATORS:
        raise SettingError(f"player {name.text!r}: write {KIND.syntax}; {_evaluators(run_dir)}")
    options = name.options
    constants = {option.name: name.given[option.name] for option in CONSTANTS if option.name in name.given}
    rule = make_rule(options["rule"] or DEFAULT_RULES.get(kind, "puct"), constants)
    evaluator = EVALUATORS[kind](argument, name, game, Path(options["run_dir"] or run_dir))
    search = TreeSearch(game, evaluator, rule, options["simulations"], proves=options["proves"], reuse=options["reuse"])
    return MctsPlayer(search, temperature=options["temperature"], name=name.text)


def _files(name: PlayerName, run_dir: Path) -> list[Path]:
    from selfplay.players.levels import agent_of

    kind, _, level = name.argument.partition(":")
    if kind == PRETRAINED:
        return [agent.path for agent in pretrained_agents().values()]
    if kind != "level":
        return []
    return [agent_of(name.options["run_dir"] or run_dir, whole_number(name.text, level, "the level"))]


def _evaluators(run_dir: Path) -> str:
    return f"choose EVALUATOR from {', '.join(EVALUATORS)}, such as mcts:rollouts or mcts:level:3"


KIND = PlayerKind(
    "mcts:EVALUATOR",
    "Monte-Carlo tree search with the network of level L (mcts:level:L) or random rollouts (mcts:rollouts)",
    _make,
    (
        Option("simulations", int, 200),
        Option("rule"),
        Option("proves", bool, True),
        Option("reuse", bool, False),
        Option("temperature", float, 0.0),
        Option("prior_temperature", float),
        Option("rollouts", int, 1),
        Option("run_dir"),
        *CONSTANTS,
    ),
    choices=_evaluators,
    offering=Offering(mcts_offers, 2),
    files=_files,
)
