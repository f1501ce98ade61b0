"""`mcts:EVALUATOR`: Monte-Carlo tree search with a network, random rollouts or an evaluator of one's own."""

from pathlib import Path
from typing import Any

from selfplay.errors import SettingError
from selfplay.games import Game
from selfplay.named_players.agents import agent_name, agent_syntaxes, make_agent
from selfplay.named_players.evaluations import EVALUATORS, is_own, own_evaluator
from selfplay.named_players.make import files_of_player
from selfplay.named_players.names import Option, PlayerName, options_of, player_kind
from selfplay.players.mcts import TreeSearchParameters
from selfplay.players.player import Player
from selfplay.search.mcts.evaluator import RolloutEvaluator
from selfplay.search.mcts.mixed_evaluator import MixedEvaluator
from selfplay.search.mcts.rule import SEARCH_RULES, constants_of_rule

ROLLOUTS, RULE_OF_ROLLOUTS = "rollouts", "uct"
"""The name of random matches as an evaluator, and the rule of searches with them if the name does not give one."""

OF_NETWORKS, OF_ROLLOUTS = ("prior_temperature", "symmetries", "rollout_share"), ("rollouts", "rollout_share")
"""The options that only evaluators with a network use, and those of random rollouts."""


def _evaluator(name: PlayerName, game: Game, run_dir: Path) -> Any:
    """The evaluator that the argument of the name names. Raises SettingError if there is none."""
    if name.argument == ROLLOUTS:
        _refuse(name, OF_NETWORKS, "rollouts have no network")
        return RolloutEvaluator(name.options["rollouts"])
    if (named := agent_name(name.argument, name)) is not None:
        agent, options = make_agent(named, game, run_dir), name.options
        evaluator = agent.evaluator(options["prior_temperature"], symmetries=options["symmetries"])
        if share := options["rollout_share"]:
            return MixedEvaluator(evaluator, share, options["rollouts"])
        _refuse(name, OF_ROLLOUTS, "without rollout_share, only mcts:rollouts plays random matches")
        return evaluator
    if is_own(name.argument, EVALUATORS):
        _refuse(name, (*OF_ROLLOUTS, "symmetries"), "an evaluator of your own has no such option")
        return own_evaluator(name.argument, game, name.options["prior_temperature"])
    known = ", ".join((ROLLOUTS, *EVALUATORS, *agent_syntaxes(), "module:attribute"))
    choice = f"choose EVALUATOR from {known}, such as mcts:rollouts or mcts:level:3"
    raise SettingError(f"player {name.text!r}: write {mcts.syntax}; {choice}")


def _refuse(name: PlayerName, options: tuple[str, ...], reason: str) -> None:
    """Raise SettingError if one of these options is given."""
    if given := [option for option in options if option in name.given]:
        raise SettingError(f"player {name.text!r}: remove {given[0]}; {reason}")


def _files(name: PlayerName, run_dir: Path) -> list[Path]:
    named = agent_name(name.argument, name)
    return [] if named is None else files_of_player(named, run_dir)


CONSTANTS = dict.fromkeys(constant for rule in SEARCH_RULES.included for constant in constants_of_rule(rule))
"""The constants of the rules of this package, which are options too; each rule checks those that are given."""


@player_kind(
    "mcts:EVALUATOR",
    files=_files,
    more=(*options_of(TreeSearchParameters), *(Option(constant, float) for constant in CONSTANTS)),
)
def mcts(
    game: Game,
    name: PlayerName,
    *,
    prior_temperature: float | None = None,
    symmetries: bool = False,
    rollouts: int = 1,
    rollout_share: float = 0.0,
    run_dir: Path,
    **searching: Any,
) -> Player:
    """Monte-Carlo tree search with the network of level L (mcts:level:L), random rollouts (mcts:rollouts) or an
    evaluator of your own (mcts:module:attribute)

    Args:
        prior_temperature: without a policy head, priors are softmax(values of actions / this); null: 0.1
        symmetries: whether a position is evaluated as the mean over its images under the symmetries of the game
        rollouts: random matches in each simulation of mcts:rollouts, whose rule is uct unless another is set
        rollout_share: how much of the value of a position is the mean result of `rollouts` random matches from there,
            if the evaluator is a network; the rest is its own value
    """
    constants = {constant: searching.pop(constant) for constant in CONSTANTS}
    given = {constant: value for constant, value in constants.items() if value is not None}
    searching["rule"] = rule_of(name)
    parameters = TreeSearchParameters(**searching, constants=given)
    return parameters.search_player(game, _evaluator(name, game, run_dir), name.text)


def rule_of(name: PlayerName) -> str:
    """The rule of the player with this name: that of its option, or else the usual one of the evaluator."""
    usual = RULE_OF_ROLLOUTS if name.argument == ROLLOUTS else name.options["rule"]
    return str(name.given.get("rule", usual))
