"""`easy`, `medium`, `hard`: the strengths that people choose by, and the player that judges their moves.

All of them come with the program, so a name means the same player on every computer. `python benchmarks/strengths.py`
measures them.
"""

from selfplay.games import Game
from selfplay.named_players.make import make_player
from selfplay.named_players.names import PlayerName, player_kind
from selfplay.players.perfect import perfect_player_of
from selfplay.players.player import Player
from selfplay.players.pretrained import PRETRAINED, find_pretrained, is_for_compiled_search, search_depth

STRENGTHS = ("easy", "medium", "hard")
"""The weakest first."""

SEARCH = "search:negascout?table_bits=0"
"""Without a table, which saves little at these depths, so that each of many matches can have a player."""
WITH_TABLE = "search:negascout?table_bits=14"
HARD_DEPTH, FEATURES_DEPTH = 3, 6
"""Plies that the pretrained agent looks ahead in most games, and a search by features."""


def strengths(game: Game) -> dict[str, str]:
    """The names of the players that stand for easy, medium and hard. The first call for a game can take seconds.

    Each draws one of about equally good actions, so that it does not repeat its matches. Perfect play, where it is
    known, is stronger than these.
    """
    greedy = "discs" if game.counts_discs else game.usual_evaluation
    easy = f"{SEARCH}&depth=1&slack=0&evaluation={greedy}&epsilon=0.2"
    has_agent = find_pretrained(game.learned_as()) is not None
    if has_agent and is_for_compiled_search(game.learned_as()):
        learned, depth = f"{SEARCH}&evaluation={PRETRAINED}", search_depth(game.learned_as(), HARD_DEPTH)
        deeper = SEARCH if depth <= HARD_DEPTH else WITH_TABLE
        return {
            "easy": easy,
            "medium": f"{learned}&depth=1&slack=0.05&epsilon=0.2",
            "hard": f"{deeper}&evaluation={PRETRAINED}&depth={depth}&slack=0.01",
        }
    if perfect_player_of(game) is not None:
        return {
            "easy": easy,
            "medium": f"{SEARCH}&depth=3&slack=0&epsilon=0.1",
            "hard": f"{SEARCH}&depth=6&slack=0",
        }
    if not has_agent and game.features is not None:
        return {
            "easy": easy,
            "medium": f"{SEARCH}&depth=2&slack=0&evaluation={game.usual_evaluation}&epsilon=0.1",
            "hard": f"{WITH_TABLE}&depth={FEATURES_DEPTH}&slack=0&evaluation={game.usual_evaluation}",
        }
    return {
        # Sees its own win and the threat of the other player, three times out of four.
        "easy": f"{SEARCH}&depth=2&slack=0&evaluation={greedy}&epsilon=0.25",
        "medium": "mcts:rollouts?simulations=100",
        "hard": f"mcts:{PRETRAINED}?simulations=100&temperature=0.25"
        if has_agent
        else "mcts:rollouts?simulations=2000",
    }


JUDGE_DEPTH, JUDGE_SIMULATIONS, NETWORK_SIMULATIONS = 5, 4000, 100
"""Fixed, so that its values depend only on the position; they take about 0.1 s."""


def judge_name(game: Game) -> tuple[str, str]:
    """The name of the strongest player that comes with the program, and how people call it.

    Exact values are better, where they are known.
    """
    has_agent = find_pretrained(game.learned_as()) is not None
    if has_agent and not is_for_compiled_search(game.learned_as()):
        return (
            f"mcts:{PRETRAINED}?simulations={NETWORK_SIMULATIONS}",
            f"{PRETRAINED}, {NETWORK_SIMULATIONS} simulations",
        )
    if not has_agent and not game.counts_discs:
        return f"mcts:rollouts?simulations={JUDGE_SIMULATIONS}", f"tree search, {JUDGE_SIMULATIONS:,} random matches"
    evaluation = PRETRAINED if has_agent else game.usual_evaluation
    # A small table, because there may be one for each match.
    depth = search_depth(game.learned_as(), JUDGE_DEPTH)
    name = f"search:negascout?depth={depth}&table_bits=14&evaluation={evaluation}"
    return name, f"{evaluation}, {depth} plies"


def _named(game: Game, name: PlayerName) -> Player:
    player = make_player(strengths(game)[name.kind], game)
    player.name = name.text
    return player


@player_kind("easy")
def easy(game: Game, name: PlayerName) -> Player:
    """the opponent that beginners can beat"""
    return _named(game, name)


@player_kind("medium")
def medium(game: Game, name: PlayerName) -> Player:
    """the opponent that often beats beginners"""
    return _named(game, name)


@player_kind("hard")
def hard(game: Game, name: PlayerName) -> Player:
    """the opponent that seldom loses"""
    return _named(game, name)
