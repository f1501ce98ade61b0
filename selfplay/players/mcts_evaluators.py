"""The evaluators that names of players choose: `mcts:rollouts`, `mcts:level:L` and `mcts:pretrained`."""

from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.errors import SettingError
from selfplay.players.player_names import PlayerName, whole_number
from selfplay.runs.pretrained import pretrained_agent
from selfplay.search.mcts.rollouts import RolloutEvaluator

if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.search.mcts.evaluator import BatchEvaluator, CompiledEvaluator


def rollouts(argument: str, name: PlayerName, game: "Game", run_dir: Path) -> RolloutEvaluator:
    """Random matches. Raises SettingError if the name has a second argument."""
    if argument:
        raise SettingError(f"player {name.text!r}: write mcts:rollouts without a second colon")
    return RolloutEvaluator(name.options["rollouts"])


def pretrained(argument: str, name: PlayerName, game: "Game", run_dir: Path) -> "BatchEvaluator | CompiledEvaluator":
    """The agent that comes with the program. Raises SettingError if the game has none or the name a second argument."""
    from selfplay.players.network_evaluator import level_evaluator

    if argument:
        raise SettingError(f"player {name.text!r}: write mcts:pretrained without a second colon")
    return level_evaluator(*pretrained_agent(game.name), game, name.options["prior_temperature"])


def level(argument: str, name: PlayerName, game: "Game", run_dir: Path) -> "BatchEvaluator | CompiledEvaluator":
    """The network of a level. Raises what `level_evaluator` raises, and SettingError for anything but a number."""
    from selfplay.players.network_evaluator import level_evaluator

    number = whole_number(name.text, argument, "the level")
    return level_evaluator(run_dir, number, game, name.options["prior_temperature"])
