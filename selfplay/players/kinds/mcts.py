"""`mcts:EVALUATOR`: Monte-Carlo tree search with a learned agent's network or with random rollouts."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfplay.errors import SettingError
from selfplay.players.kinds.agents import agent_name, agent_syntaxes, make_agent
from selfplay.players.player_names import OfferedPlayer, Option, PlayerKind, PlayerName, files_of_player, make_player
from selfplay.registry import Registry

if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.player import Player
    from selfplay.search.mcts.evaluator import RolloutEvaluator
    from selfplay.settings.playing import WebSettings

EVALUATORS: "Registry[Callable[[str, PlayerName, Game, Path], Any]]" = Registry(
    "evaluator", {"rollouts": "selfplay.players.kinds.mcts:rollouts"}, group="selfplay.mcts_evaluators"
)
"""Evaluators other than learned agents, by the first word after `mcts:`.

Functions from (the text after a second colon, name, game, run_dir) to an evaluator.
"""

DEFAULT_RULES = {"rollouts": "uct"}
"""The rule of these evaluators if the name does not give one; it is puct for all others."""

CONSTANTS = tuple(
    Option(name, float)
    for name in (
        *("c", "c_init", "c_base", "unvisited", "noise", "alpha"),
        *("c_visit", "c_scale", "considered", "gumbel_scale"),
    )
)
"""The constants of the rules; each rule checks those that are given."""


OF_NETWORKS, OF_ROLLOUTS = ("prior_temperature", "symmetries"), ("rollouts",)
"""The options that only evaluators with a network use, and only random rollouts."""

ROLLOUTS, WITH_NETWORK = 1000, 200
"""Simulations for each action of the opponents that are offered: random matches take microseconds, networks more."""


def _make(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.mcts import MctsPlayer
    from selfplay.search.mcts.rule import make_rule
    from selfplay.search.mcts.tree_search import TreeSearch

    kind, options = name.argument.partition(":")[0], name.options
    constants = {option.name: name.given[option.name] for option in CONSTANTS if option.name in name.given}
    rule = make_rule(options["rule"] or DEFAULT_RULES.get(kind, "puct"), constants)
    evaluator = _evaluator(name, game, run_dir)
    search = TreeSearch(game, evaluator, rule, options["simulations"], proves=options["proves"], reuse=options["reuse"])
    return MctsPlayer(search, temperature=options["temperature"], name=name.text)


def _evaluator(name: PlayerName, game: "Game", run_dir: Path) -> Any:
    """The evaluator that the argument of the name names. Raises SettingError if there is none."""
    kind, _, argument = name.argument.partition(":")
    if kind in EVALUATORS:
        return EVALUATORS[kind](argument, name, game, run_dir)
    if (named := agent_name(name.argument, name)) is not None:
        _refuse(name, OF_ROLLOUTS, "only mcts:rollouts plays random matches")
        agent, options = make_agent(named, game, run_dir), name.options
        return agent.evaluator(options["prior_temperature"], symmetries=options["symmetries"])
    known = (
        f"choose EVALUATOR from {', '.join((*EVALUATORS, *agent_syntaxes()))}, such as mcts:rollouts or mcts:level:3"
    )
    raise SettingError(f"player {name.text!r}: write {KIND.syntax}; {known}")


def rollouts(argument: str, name: PlayerName, game: "Game", run_dir: Path) -> "RolloutEvaluator":
    """Random matches. Raises SettingError if the name has a second argument or an option of networks."""
    from selfplay.search.mcts.evaluator import RolloutEvaluator

    _refuse(name, OF_NETWORKS, "rollouts have no network")
    if argument:
        raise SettingError(f"player {name.text!r}: write mcts:rollouts without a second colon")
    return RolloutEvaluator(name.options["rollouts"])


def _refuse(name: PlayerName, options: tuple[str, ...], reason: str) -> None:
    """Raise SettingError if one of these options is given."""
    if given := [option for option in options if option in name.given]:
        raise SettingError(f"player {name.text!r}: remove {given[0]}; {reason}")


def _files(name: PlayerName, run_dir: Path) -> list[Path]:
    named = agent_name(name.argument, name)
    return [] if named is None else files_of_player(named, run_dir)


def _offers(game: "Game", run_dir: Path, web: "WebSettings") -> Iterator[OfferedPlayer]:
    """A search with random matches, and one with the newest level of the run."""
    from selfplay.runs.run_folder import RunFolder

    rollouts = f"mcts:rollouts?simulations={ROLLOUTS}"
    yield OfferedPlayer(
        "mcts-rollouts",
        "mcts",
        "Tree search, random matches",
        f"tries its moves in {ROLLOUTS:,} random matches and prefers those that win",
        partial(make_player, rollouts, game, run_dir),
        is_slow=True,
    )
    run = RunFolder(run_dir)
    for level in run.trained_levels()[-1:]:
        name = f"mcts:level:{level}?simulations={WITH_NETWORK}"
        yield OfferedPlayer(
            "mcts-level",
            "mcts",
            f"Tree search, level {level}",
            f"looks ahead with the newest level, in {WITH_NETWORK} simulations",
            partial(make_player, name, game, run_dir),
            file=run.agent(level),
            is_recommended=True,
            is_slow=True,
        )


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
        Option("symmetries", bool, False),
        Option("rollouts", int, 1),
        Option("run_dir"),
        *CONSTANTS,
    ),
    offers=_offers,
    files=_files,
)
