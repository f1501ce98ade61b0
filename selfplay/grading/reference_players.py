"""Players of known kind that the levels of a large game are measured against."""

from collections.abc import Sequence

from selfplay.errors import SettingError
from selfplay.games import Game
from selfplay.search.evaluation import make_evaluation

RANDOM = "random"
ARTICLE, NONE = "article", "none"


def reference_names(game: Game, names: Sequence[str] | None) -> list[str]:
    """The references that `names` lists, or the game's own: names of players, none of them twice, weak ones first.

    The random player, whom every level meets as level 0, is not among them. The game's own are the player that takes
    the most points now, where there are points, and NegaScout to several depths: to 1 to 6 plies with the article's
    evaluation where that fits the game, else to 2, 4 and 6 plies with none.
    """
    if names is not None:
        return [name for name in dict.fromkeys(names) if name != RANDOM]
    greedy = ["greedy_discs"] if game.rules.margin is not None else []
    evaluation = _fitting_evaluation(game)
    depths = (2, 4, 6) if evaluation == NONE else range(1, 7)
    return [*greedy, *(f"search:negascout?depth={depth}&evaluation={evaluation}" for depth in depths)]


def passable_player(game: Game) -> str:
    """The name of a quick player that sees the nearest blunders and explores; its matches are like those of people."""
    return f"search:negascout?depth=2&evaluation={_fitting_evaluation(game)}&epsilon=0.25"


def _fitting_evaluation(game: Game) -> str:
    try:
        make_evaluation(ARTICLE, game)
    except SettingError:
        return NONE
    return ARTICLE
