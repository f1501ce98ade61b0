"""The searches that the page offers as opponents: with the newest level, and by fixed rules."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from selfplay.agents.agent import Agent
from selfplay.agents.checkpoints import read_metadata
from selfplay.architectures import NETWORK, description_of
from selfplay.architectures.capabilities import has_compiled_values
from selfplay.errors import SelfPlayError
from selfplay.files import read_once
from selfplay.games import Game
from selfplay.named_players.make import make_player
from selfplay.named_players.names import ITSELF
from selfplay.players.player import Player
from selfplay.runs.levels import load_agent
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.playing import WebSettings
from selfplay.web.game_schemas import OfferedPlayer

SEARCHES_IN_A_REPLY = 3
"""Number of searches in a reply: for the values of the opponent's actions, for its choice, and for the values of the
person's next actions."""
OFFERED_TABLE_BITS = 14
"""The size of a search's table: 640 KiB, because every match against a search needs a separate table."""
LEVEL_DEPTHS, DEFAULT_LEVEL_DEPTH, LEVEL_ENDGAME, LEVEL_ENDGAME_BITS = range(2, 13), 6, 12, 14
"""Plies that the newest level looks ahead inside a search. If the game has an exact solver, also the number of empty
squares that it plays perfectly, in tens of milliseconds, and the size of the solver's table."""
DEFAULT_DEPTH, SOLVES_FROM_DEPTH, ENDGAME, ENDGAME_BITS = 4, 4, 10, 12
"""The same for a search by fixed rules, which answers at once. Searches from depth 4 on solve the end of the match, in
milliseconds, with a table of at most 128 KiB."""


def search_offers(game: Game, run_dir: Path, web: WebSettings) -> Iterator[OfferedPlayer]:
    """The newest level inside a search, and a search by fixed rules, of each depth."""
    yield from level_search_offers(game, run_dir, web)
    deepest = min(web.deepest_search, game.max_game_length)
    for depth in range(1, deepest + 1):
        endgame = ENDGAME if game.exact_solver is not None and depth >= SOLVES_FROM_DEPTH else 0
        options = f"evaluation={game.usual_evaluation}&endgame={endgame}&endgame_bits={ENDGAME_BITS}"
        yield OfferedPlayer(
            f"search-{depth}",
            "search",
            f"Search ({'1 ply' if depth == 1 else f'{depth} plies'})",
            _about(game, endgame),
            partial(_searching, game, web, depth, options, f"negascout {depth}"),
            group="Search",
            number=depth,
            is_default=depth == min(DEFAULT_DEPTH, deepest),
            # The sum of features is not the value of an outcome.
            estimates=game.features is None,
            is_slow=True,
        )


def level_search_offers(game: Game, run_dir: Path, web: WebSettings) -> Iterator[OfferedPlayer]:
    """The newest level inside a search, to each depth, if compiled searches can compute its values."""
    run = RunFolder(run_dir)
    for level in run.trained_levels()[-1:]:
        description, is_compiled = network_in_words(run.agent(level))
        deepest = min(web.deepest_search, game.max_game_length)
        endgame = LEVEL_ENDGAME if game.exact_solver is not None else 0
        exactly = f", and plays the last {endgame} squares perfectly" if endgame else ""
        agent = partial(_agent, run.agent(level), level, game)
        options = f"evaluation={ITSELF}&endgame={endgame}&endgame_bits={LEVEL_ENDGAME_BITS}"
        for depth in [depth for depth in LEVEL_DEPTHS if is_compiled and depth <= deepest]:
            yield OfferedPlayer(
                f"level-{level}-search-{depth}",
                "search",
                f"Level {level}, looking {depth} plies ahead",
                f"{description}, learned by self-play, inside a search{exactly}",
                partial(_searching, game, web, depth, options, f"level {level}, {depth} plies", agent),
                file=run.agent(level),
                group=f"Level {level}, looking ahead",
                number=depth,
                is_default=depth == min(DEFAULT_LEVEL_DEPTH, deepest),
                is_slow=True,
            )


@read_once(500)
def network_in_words(agent: Path) -> tuple[str, bool]:
    """A description of the network in a file, and whether compiled searches can compute its values."""
    try:
        name = read_metadata(agent)["architecture"]["name"]
        return description_of(name), has_compiled_values(name)
    except (SelfPlayError, KeyError):
        # The error is reported when the player is made.
        return NETWORK, False


def _about(game: Game, endgame: int) -> str:
    about = "looks ahead and evaluates the positions it reaches" if game.features else "looks ahead for the end"
    aim = "" if game.rules.margin is None else f", for the most {game.presentation.point_name}"
    return f"{about}; plays the last {endgame} squares perfectly{aim}" if endgame else about


def _searching(
    game: Game, web: WebSettings, depth: int, options: str, name: str, agent: Callable[[], Agent] | None = None
) -> Player:
    limited = f"table_bits={OFFERED_TABLE_BITS}&slack=0&time_limit={web.search_seconds / SEARCHES_IN_A_REPLY}"
    text = f"search:negascout?depth={depth}&{options}&{limited}"
    player = make_player(text, game, itself=None if agent is None else agent())
    player.name = name
    return player


@read_once(4)
def _agent(path: Path, level: int, game: Game) -> Agent:
    """A level, read once for each version of its file: searches share its weights."""
    return load_agent(path, game, f"level {level}")
