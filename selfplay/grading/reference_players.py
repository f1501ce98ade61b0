"""Fixed players against which the levels of a large game are measured."""

from collections.abc import Sequence

from selfplay.errors import SettingError
from selfplay.games import Game
from selfplay.search.feature_evaluation import make_evaluation

RANDOM = "random"
ARTICLE, NONE = "article", "none"


def reference_names(game: Game, names: Sequence[str] | None) -> list[str]:
    """The names of the references: `names` without duplicates, or by default those that suit the game, weak ones first.

    The random player, which every level meets as level 0, is not included. By default they are the player that
    maximises its points after one ply, if the game counts points, and NegaScout at several depths: 1 to 6 plies with
    the evaluation `article` if it fits the game, else 2, 4 and 6 plies without an evaluation.
    """
    if names is not None:
        return [name for name in dict.fromkeys(names) if name != RANDOM]
    greedy = ["greedy_discs"] if game.rules.margin is not None else []
    evaluation = _fitting_evaluation(game)
    depths = (2, 4, 6) if evaluation == NONE else range(1, 7)
    return [*greedy, *(f"search:negascout?depth={depth}&evaluation={evaluation}" for depth in depths)]


def average_player(game: Game) -> str:
    """The name of a fast player that avoids immediate blunders and explores; its matches resemble those of people."""
    return f"search:negascout?depth=2&evaluation={_fitting_evaluation(game)}&epsilon=0.25"


def _fitting_evaluation(game: Game) -> str:
    try:
        make_evaluation(ARTICLE, game)
    except SettingError:
        return NONE
    return ARTICLE
