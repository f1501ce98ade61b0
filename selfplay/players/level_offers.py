"""The levels of a run as opponents: as they are, and inside a search."""

from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.players.offers import OfferedPlayer, OfferLimits

# The kinds of players import this, and --help reads them without torch.
if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.player import Player
    from selfplay.search.evaluation import Evaluation

DEPTHS, DEFAULT_DEPTH = range(2, 13), 6
"""Plies that the newest level looks ahead inside a search."""
TABLE_BITS = 14
"""The size of a search's table: 640 KiB, because every match against a search needs a separate table."""
SOLVED_EMPTIES, ENDGAME_BITS = 12, 14
"""Where the game has an exact solver, the search plays this many empty squares perfectly, in tens of milliseconds."""


def level_offers(game: "Game", run_dir: Path, limits: OfferLimits) -> Iterator[OfferedPlayer]:
    """Every level, as it played in its own matches."""
    from selfplay.players.agent import load_level
    from selfplay.runs.run_folder import RunFolder

    run = RunFolder(run_dir)
    levels = run.trained_levels()
    for level in levels:
        yield OfferedPlayer(
            f"level-{level}",
            "level",
            f"Level {level}",
            f"{_described(run.agent(level))[0]}, learned by self-play; looks at its own next move only",
            partial(load_level, run_dir, level, game),
            file=run.agent(level),
            level=level,
            has_fixed_values=True,
            group="Levels of the run",
            number=level,
            is_default=level == levels[-1],
        )


def level_search_offers(game: "Game", run_dir: Path, limits: OfferLimits, seconds: float) -> Iterator[OfferedPlayer]:
    """The newest level inside a search, to each depth, if compiled searches can compute its values.

    Args:
        seconds: time limit of each search.
    """
    from selfplay.runs.run_folder import RunFolder

    run = RunFolder(run_dir)
    for level in run.trained_levels()[-1:]:
        description, is_compiled = _described(run.agent(level))
        deepest = min(limits.deepest_search, game.max_game_length)
        endgame = SOLVED_EMPTIES if game.exact_solver is not None else 0
        exactly = f", and plays the last {endgame} squares perfectly" if endgame else ""
        for depth in [depth for depth in DEPTHS if is_compiled and depth <= deepest]:
            is_default = depth == min(DEFAULT_DEPTH, deepest)
            yield OfferedPlayer(
                f"level-{level}-search-{depth}",
                "search",
                f"Level {level}, looking {depth} plies ahead",
                f"{description}, learned by self-play, inside a search{exactly}",
                partial(_search_player, run_dir, level, game, depth, seconds, endgame),
                file=run.agent(level),
                group=f"Level {level}, looking ahead",
                number=depth,
                is_default=is_default,
                is_recommended=is_default,
                is_slow=True,
            )


def _described(agent: Path) -> tuple[str, bool]:
    """What the network in a file is, and whether compiled searches can compute its values."""
    try:
        stat = agent.stat()
    except OSError:
        return "unknown", False
    return _described_version(agent, stat.st_ino, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=500)
def _described_version(agent: Path, *version: int) -> tuple[str, bool]:
    """As `_described`, kept for each version of a file."""
    from selfplay.architectures import ARCHITECTURES, NETWORK, description_of
    from selfplay.architectures.capabilities import CompiledValues, FeatureWeights
    from selfplay.errors import SelfPlayError
    from selfplay.runs.checkpoints import read_metadata

    try:
        name = read_metadata(agent)["architecture"]["name"]
        network, description = ARCHITECTURES[name], description_of(name)
    except (SelfPlayError, KeyError):
        # The error is reported when the player is made.
        return NETWORK, False
    is_compiled = isinstance(network, type) and issubclass(network, CompiledValues | FeatureWeights)
    return description, is_compiled


def _search_player(run_dir: Path, level: int, game: "Game", depth: int, seconds: float, endgame: int) -> "Player":
    from selfplay.players.search import SearchPlayer
    from selfplay.runs.run_folder import RunFolder
    from selfplay.search.searcher import Searcher

    stat = RunFolder(run_dir).existing_agent(level).stat()
    evaluation = _evaluation(run_dir, level, game, stat.st_ino, stat.st_mtime_ns, stat.st_size)
    searcher = Searcher(game, evaluation, table_bits=TABLE_BITS)
    return SearchPlayer(
        searcher,
        depth,
        time_limit=seconds,
        endgame=endgame,
        endgame_bits=ENDGAME_BITS,
        name=f"level {level}, {depth} plies",
    )


@lru_cache(maxsize=4)
def _evaluation(run_dir: Path, level: int, game: "Game", *version: int) -> "Evaluation":
    """What a level has learned, read once for each version of its file."""
    from selfplay.errors import StageError
    from selfplay.players.agent import Agent

    evaluation = Agent.of_level(run_dir, level, game).evaluation()
    if evaluation is None:
        raise StageError(f"level {level} cannot play inside a search; choose another opponent")
    return evaluation
