"""The session that the settings of `selfplay play` describe, and the player that is chosen if none is named."""

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import SettingError
from selfplay.games import Game, make_game
from selfplay.named_players.make import make_player
from selfplay.named_players.strengths import strongest_rollouts
from selfplay.players.player import Player
from selfplay.players.pretrained import PRETRAINED, find_pretrained, is_for_compiled_search, search_depth
from selfplay.playing.session import Session
from selfplay.runs.folders import RUNS_FOLDER
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.common import CommonSettings
from selfplay.settings.fields import PERSON
from selfplay.settings.playing import PlaySettings

SMALL_BOARD = 9
"""Squares of a board whose game can be solved at once."""


def open_session(settings: PlaySettings) -> Session:
    """The session that `settings` describe. If they do not specify who moves first, the person is player number 0.

    Raises:
        SettingError: a player's name is unknown, or there are more players than seats.
        StageError: the run does not have the level.
        InvalidFileError: the file of a player is broken or belongs to another game.
        GameTooLargeError: a player needs a game with fewer positions.
    """
    game = make_game(settings.game.name)
    seats = [PERSON, None] if settings.asks_who_is_first else [settings.first, settings.second]
    if settings.leaves_a_seat:
        seats[seats.index(None)] = _opponent(settings, game)
    elif settings.opponent is not None or settings.level is not None:
        raise SettingError("opponent and level: first and second already name both players; omit opponent and level")
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
    return Session(game, (one, other), stream_key(settings.seed, 0, Activity.VERSUS_PERSON))


def _opponent(settings: PlaySettings, game: Game) -> str:
    """The name of the opponent of a person, if first and second do not name it."""
    if settings.opponent is not None:
        return settings.opponent
    options = f"?depth={settings.player.depth}&temperature={settings.player.temperature}"
    if settings.level is not None:
        return f"level:{settings.level}{options}"
    return usual_player(game, RunFolder.of(settings), options)


def player_for(name: str | None, game: Game, settings: CommonSettings) -> Player:
    """The player with this name for a game, which may be another board or komi than that of the settings.

    None: the usual one. The levels of the run are those of the board of the settings; another board may have a run in
    its usual folder. Raises as `make_player`.
    """
    is_own = game.learned_as() == make_game(settings.game.name).learned_as()
    run = RunFolder.of(settings) if is_own else RunFolder(RUNS_FOLDER / game.learned_as())
    return make_player(name or usual_player(game, run), game, run.path)


def usual_player(game: Game, run: RunFolder, options: str = "") -> str:
    """The name of the newest level of a run, with these options; of a strong player if the run has no levels."""
    if (level := run.newest_level()) > 0:
        return f"level:{level}{options}"
    if find_pretrained(game.learned_as()) is not None:
        if not is_for_compiled_search(game.learned_as()):
            return f"mcts:{PRETRAINED}"
        depth = search_depth(game.learned_as(), 1)
        return PRETRAINED if depth == 1 else f"{PRETRAINED}?depth={depth}"
    if game.features is not None:
        return f"search:negascout?depth=4&evaluation={game.usual_evaluation}"
    is_solved = game.exact_solver is not None or (game.num_squares or 0) <= SMALL_BOARD
    return "perfect" if is_solved else strongest_rollouts(game)
