"""The session that the settings of `selfplay play` describe, and the player of an engine, which may not be named."""

from collections.abc import Callable
from typing import Any, TypeVar

from selfplay.agents.pretrained import PRETRAINED, find_pretrained, is_for_compiled_search, search_depth
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import SettingError
from selfplay.games import Game
from selfplay.named_players.make import make_player
from selfplay.named_players.strengths import strongest_rollouts
from selfplay.players.perfect import perfect_player_of
from selfplay.players.player import Player
from selfplay.playing.session import Session
from selfplay.protocols.line_engine import LineEngine, prepare_player
from selfplay.runs.folders import RUNS_FOLDER
from selfplay.runs.levels import rated_levels
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.common import PERSON, SeededSettings
from selfplay.settings.playing import EngineSettings, PlaySettings
from selfplay.settings.run import Run

AnyEngine = TypeVar("AnyEngine", bound=EngineSettings)

SMALL_BOARD = 9
"""Squares of a board whose game can be solved at once. Those without a board are enumerated, if that is
possible."""


def open_session(run: Run[PlaySettings]) -> Session:
    """The session that the settings describe. If they do not specify who moves first, the person is player number 0.

    Raises:
        SettingError: a player's name is unknown, or there are more players than seats.
        StageError: the run does not have the level.
        InvalidFileError: the file of a player is broken or belongs to another game.
        GameTooLargeError: a player needs a game with fewer positions.
    """
    settings, game = run.settings, run.game
    seats = [PERSON, None] if settings.asks_who_is_first else [settings.first, settings.second]
    if settings.leaves_a_seat:
        seats[seats.index(None)] = _opponent(run)
    elif settings.opponent is not None or settings.level is not None:
        raise SettingError("opponent and level: first and second already say who has each seat; omit these two")
    # A seat that is still empty is that of a person.
    against_person = None in seats or PERSON in seats
    # Equal names give one player, so that a learner learns only once from each match against itself.
    players = {
        name: None
        if name is None or name == PERSON
        else make_player(name, game, settings.run_dir, against_person=against_person)
        for name in seats
    }
    one, other = (players[name] for name in seats)
    return Session(game, (one, other), session_key(settings))


def _opponent(run: Run[PlaySettings]) -> str:
    """The name of the opponent of a person, if first and second do not name it."""
    settings = run.settings
    if settings.opponent is not None:
        return settings.opponent
    options = f"?depth={settings.player.depth}&temperature={settings.player.temperature}"
    if settings.level is not None:
        return f"level:{settings.level}{options}"
    return usual_player(run.game, run.folder, options)


def player_for(name: str | None, game: Game, run: Run[Any]) -> Player:
    """The player with this name for a game, which may be another board or komi than that of the run.

    None: the usual one. The levels of the run are those of its own board; another board may have a run in its usual
    folder. Raises as `make_player`.
    """
    is_own = game.learned_as() == run.game.learned_as()
    folder = run.folder if is_own else RunFolder(RUNS_FOLDER / game.learned_as())
    return make_player(name or usual_player(game, folder), game, folder.path)


def usual_player(game: Game, run: RunFolder, options: str = "") -> str:
    """The name of the newest level of a run, with these options; of a strong player if the run has no levels, or levels
    that are played by tree search."""
    if rated_levels(run) and find_pretrained(game.learned_as()) is None:
        return "strongest"
    if (level := run.newest_level()) > 0:
        return f"level:{level}{options}"
    if find_pretrained(game.learned_as()) is not None:
        if not is_for_compiled_search(game.learned_as()):
            return f"mcts:{PRETRAINED}"
        depth = search_depth(game.learned_as(), 1)
        return PRETRAINED if depth == 1 else f"{PRETRAINED}?depth={depth}"
    if game.features is not None:
        return f"search:negascout?depth=4&evaluation={game.usual_evaluation}"
    is_small = perfect_player_of(game) is not None if game.num_squares is None else game.num_squares <= SMALL_BOARD
    return "perfect" if is_small or game.exact_solver is not None else strongest_rollouts(game)


def make_engine(protocol: Callable[..., LineEngine], run: Run[AnyEngine]) -> LineEngine:
    """An engine of a protocol, which makes and prepares its player for each board that the controller chooses.

    Raises as `make_player`, and SettingError if the protocol cannot express the game's actions.
    """
    settings = run.settings

    def made(game: Game) -> Player:
        player = player_for(settings.player, game, run)
        prepare_player(player, game, session_key(settings))
        return player

    return protocol(run.game, made, session_key(settings), **settings.options)


def session_key(settings: SeededSettings) -> int:
    """The stream of the random numbers of a session, or of an engine."""
    return stream_key(settings.seed, 0, Activity.VERSUS_PERSON)
