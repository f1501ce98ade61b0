"""The searches that are offered as opponents, with tables small enough for a server with many matches."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.players.level_offers import TABLE_BITS, level_search_offers
from selfplay.players.offers import OfferedPlayer, OfferLimits

# The kinds of players import this, and --help reads them without torch.
if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.player import Player

SEARCHES_IN_A_REPLY = 3
"""Number of searches in a reply: the values of the opponent's actions, its choice, and the values of the person's next
actions."""
SOLVES_FROM_DEPTH, SOLVED_EMPTIES, ENDGAME_BITS = 4, 10, 12
"""Where the game has an exact solver, searches from this depth on solve the end of the match. This many empty squares
take milliseconds, with a table of at most 128 KiB."""
DEFAULT_DEPTH = 4
"""The depth of the search that is selected at first; it answers at once."""


def search_offers(game: "Game", run_dir: Path, limits: OfferLimits) -> Iterator[OfferedPlayer]:
    """The newest level inside a search, and a search by fixed rules, of each depth."""
    evaluation = "none" if game.features is None else "article"
    seconds = limits.search_seconds / SEARCHES_IN_A_REPLY
    yield from level_search_offers(game, run_dir, limits, seconds)
    deepest = min(limits.deepest_search, game.max_game_length)
    for depth in range(1, deepest + 1):
        endgame = SOLVED_EMPTIES if game.exact_solver is not None and depth >= SOLVES_FROM_DEPTH else 0
        yield OfferedPlayer(
            f"search-{depth}",
            "search",
            f"Search ({'1 ply' if depth == 1 else f'{depth} plies'})",
            _about(game, endgame),
            partial(_search_player, game, evaluation, depth, seconds, endgame),
            group="Search",
            number=depth,
            is_default=depth == min(DEFAULT_DEPTH, deepest),
            span=None if game.features else 1.0,
            is_slow=True,
        )


def most_discs_offer(game: "Game", run_dir: Path, limits: OfferLimits) -> Iterator[OfferedPlayer]:
    """The player that turns the most discs, in games in which discs count."""
    if game.rules.margin is not None:
        yield OfferedPlayer(
            "greedy",
            "greedy",
            "Most discs now",
            "always turns as many discs as it can",
            partial(_search_player, game, "discs", 1, limits.search_seconds / SEARCHES_IN_A_REPLY),
            span=None,
            is_slow=True,
        )


def _about(game: "Game", endgame: int) -> str:
    about = "looks ahead and evaluates the positions it reaches" if game.features else "looks ahead for the end"
    aim = "" if game.rules.margin is None else ", for the most discs"
    return f"{about}; plays the last {endgame} squares perfectly{aim}" if endgame else about


def _search_player(game: "Game", evaluation: str, depth: int, seconds: float, endgame: int = 0) -> "Player":
    from selfplay.players.search import SearchPlayer
    from selfplay.search.feature_evaluation import make_evaluation
    from selfplay.search.searcher import Searcher

    searcher = Searcher(game, make_evaluation(evaluation, game), table_bits=TABLE_BITS)
    return SearchPlayer(searcher, depth, time_limit=seconds, endgame=endgame, endgame_bits=ENDGAME_BITS)
