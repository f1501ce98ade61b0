"""The strengths that people choose by, `beginner` to `strongest`, and the player that judges their moves.

All of them come with the program, so a name means the same player on every computer. `python benchmarks/strengths.py`
measures them, and finds the temperatures.
"""

from typing import NamedTuple

from selfplay.games import Game
from selfplay.named_players.ladders import are_found, temperatures_of
from selfplay.named_players.make import make_player
from selfplay.named_players.names import PlayerKind, PlayerName, player_kind
from selfplay.players.perfect import perfect_player_of
from selfplay.players.player import Player
from selfplay.players.pretrained import (
    PRETRAINED,
    find_pretrained,
    is_for_compiled_search,
    pretrained_agent,
    search_depth,
)
from selfplay.players.tempered import TemperedPlayer
from selfplay.runs.run_folder import PROBCUT_FILE

NOTICES = {"beginner": 0.5, "easy": 0.75, "medium": 0.95, "hard": 1.0}
"""The weaker strengths, the weakest first: how often each sees that a player can win at once."""
STRENGTHS = (*NOTICES, "strongest")
"""The weakest first."""

SEARCH, DEEP_SEARCH = "search:negascout?table_bits=0", "search:negascout?table_bits=14"
"""Without a table, which saves little at small depths, so that each of many matches can have a player."""
DEPTH, DEPTH_BY_FEATURES, DEPTH_BY_PROBCUT = 5, 6, 10
"""Plies that the strongest search looks ahead in most games: with a learned agent, without, and with an agent to which
ProbCut was fitted. The weaker strengths draw by the values of one ply less."""
THRESHOLD = 1.0
"""Of ProbCut."""
SOLVED_DEPTH, SOLVED_DEPTH_BY_ENDS = 3, 8
"""Plies by whose values the weaker strengths draw in games that can be solved: where positions before the end have
values, and where only ends have."""
ENDGAME = 14
"""With at most this number of empty squares searches play perfectly, in games with an exact solver."""
SLACK = 0.01
"""Of the strongest player that searches by alpha-beta, so that it does not repeat its matches."""
SIMULATIONS, SIMULATIONS_ON_LARGE = (100, 400), (400, 2000)
"""Simulations with a learned agent: of the search by which the weaker strengths draw, and of the strongest; the same on
boards of more than LARGE squares."""
LARGE = 100
ROLLOUT_SEARCH = "mcts:rollouts?simulations="
ROLLOUTS, FEWEST_OF_STRONGEST, ROLLOUTS_BY_SQUARES = 400, 2000, 200_000
"""The same with random matches. The strongest has more on small boards, this number divided by the squares."""
FROM_VISITS = 0.25
"""The temperature of the strongest player that searches trees, so that it does not repeat its matches."""


class Strength(NamedTuple):
    """How a strength plays."""

    player: str
    """The name of the player by whose values it draws its actions."""
    temperature: float | None = None
    """As of `TemperedPlayer`; None: it plays as this player does."""
    notices: float = 1.0
    """Likewise."""


def strengths(game: Game) -> dict[str, Strength]:
    """How each of the strengths plays in a game. The first call for a game can take seconds.

    Each draws one of about equally good actions, so that it does not repeat its matches.
    """
    weaker, strongest = _players(game)
    temperatures = zip(NOTICES.items(), temperatures_of(game.learned_as(), weaker), strict=True)
    tempered = {name: Strength(weaker, temperature, notices) for (name, notices), temperature in temperatures}
    return tempered | {"strongest": strongest}


def offered_strengths(game: Game) -> dict[str, Strength]:
    """The strengths that people are offered: without Hard where nothing was learned or measured.

    There random matches alone say which moves are good, and Hard may play as well as the strongest: in tic-tac-toe on
    4x4 squares nearly all their matches are draws.
    """
    found = strengths(game)
    player = found["hard"].player
    if player.startswith(ROLLOUT_SEARCH) and not are_found(game.learned_as(), player):
        del found["hard"]
    return found


def _players(game: Game) -> tuple[str, Strength]:
    """The player by whose values the weaker strengths draw, and the strongest."""
    learned_as, has_perfect = game.learned_as(), perfect_player_of(game) is not None
    has_agent = find_pretrained(learned_as) is not None
    if has_agent and not is_for_compiled_search(learned_as):
        simulations, most = SIMULATIONS_ON_LARGE if (game.num_squares or 0) > LARGE else SIMULATIONS
        search = f"mcts:{PRETRAINED}?simulations="
        return f"{search}{simulations}", Strength(f"{search}{most}", FROM_VISITS)
    evaluation = PRETRAINED if has_agent else game.usual_evaluation
    if has_perfect:
        depth = SOLVED_DEPTH_BY_ENDS if evaluation == "none" else SOLVED_DEPTH
        return f"{SEARCH}&evaluation={evaluation}&depth={depth}", Strength("perfect")
    if has_agent or game.features is not None:
        depth, more = search_depth(learned_as, DEPTH) if has_agent else DEPTH_BY_FEATURES, ""
        if has_agent and pretrained_agent(learned_as).with_name(PROBCUT_FILE).exists():
            depth, more = DEPTH_BY_PROBCUT, f"&probcut={THRESHOLD}"
        if game.exact_solver is not None:
            more += f"&endgame={ENDGAME}"
        weaker, strongest = (
            f"{DEEP_SEARCH}&evaluation={evaluation}&depth={plies}{more}" for plies in (depth - 1, depth)
        )
        return weaker, Strength(f"{strongest}&slack={SLACK}")
    return f"{ROLLOUT_SEARCH}{ROLLOUTS}", Strength(strongest_rollouts(game), FROM_VISITS)


def strongest_rollouts(game: Game) -> str:
    """The name of the search by random matches that plays where nothing was learned."""
    return f"{ROLLOUT_SEARCH}{max(FEWEST_OF_STRONGEST, ROLLOUTS_BY_SQUARES // (game.num_squares or 1))}"


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
        return f"{ROLLOUT_SEARCH}{JUDGE_SIMULATIONS}", f"tree search, {JUDGE_SIMULATIONS:,} random matches"
    evaluation = PRETRAINED if has_agent else game.usual_evaluation
    # A small table, because there may be one for each match.
    depth = search_depth(game.learned_as(), JUDGE_DEPTH)
    name = f"search:negascout?depth={depth}&table_bits=14&evaluation={evaluation}"
    return name, f"{evaluation}, {depth} plies"


def _made(game: Game, name: PlayerName, temperature: float | None) -> Player:
    strength = strengths(game)[name.kind]
    player = make_player(strength.player, game)
    if (drawn := strength.temperature if temperature is None else temperature) is not None:
        player = TemperedPlayer(game, player, drawn, notices=strength.notices)
    player.name = name.text
    return player


def _kind(strength: str, meaning: str) -> PlayerKind:
    def made(game: Game, name: PlayerName, *, temperature: float | None = None) -> Player:
        return _made(game, name, temperature)

    made.__doc__ = f"{meaning}\n\nArgs:\n    temperature: the higher, the weaker; null: as usual for the game"
    return player_kind(strength)(made)


beginner = _kind("beginner", "the opponent that sees every second win or threat")
easy = _kind("easy", "the opponent that sees three of four wins and threats")
medium = _kind("medium", "the opponent that seldom misses a win or a threat")
hard = _kind("hard", "the opponent that makes small mistakes")
strongest = _kind("strongest", "the strongest opponent that comes with the program and answers at once")
