"""Who sits down to play: the players that the settings of playing name, and the session that they begin."""

import torch

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import SettingError, StageError
from selfplay.games import Game, make_game
from selfplay.players.capabilities import LearnsFromMatches
from selfplay.players.levels import level_player, newest_level
from selfplay.players.player import Player
from selfplay.players.registry import make_player
from selfplay.playing.session import HUMAN, Session
from selfplay.settings.playing import PlaySettings


def open_session(settings: PlaySettings) -> Session:
    """The session that `settings` describe; if they leave open who moves first, the person is player number 0.

    Raises:
        SettingError: a player's name is unknown, or there are more players than seats.
        StageError: the run has no such level, or none at all and no other player is named.
        InvalidFileError: the file of a player is broken or belongs to another game.
        GameTooLargeError: a player needs a game with fewer positions.
    """
    torch.set_num_threads(settings.threads)
    game = make_game(settings.game.name)
    players = _players(settings, game)
    # A player that learns goes on with the numbers that come next, so that it does not meet the same match again.
    learners = [player.as_a(LearnsFromMatches) for player in players if player is not None]
    match = max((learner.matches_seen() for learner in learners if learner is not None), default=0)
    return Session(game, players, stream_key(settings.seed, 0, Activity.VERSUS_PERSON), match=match)


def _players(settings: PlaySettings, game: Game) -> tuple[Player | None, Player | None]:
    first, second = (HUMAN, None) if settings.asks_who_is_first else (settings.first, settings.second)
    is_free = None in (first, second) and HUMAN in (first, second)
    if not is_free and (settings.opponent is not None or settings.level is not None):
        raise SettingError("opponent and level find no seat: first and second say already who plays")

    def seated(name: str | None) -> Player | None:
        return _opponent(settings, game) if name is None and is_free else _player(settings, game, name)

    one = seated(first)
    # One name is one player, so that one that learns sees each of its matches against itself once.
    return one, one if first == second else seated(second)


def _player(settings: PlaySettings, game: Game, name: str | None) -> Player | None:
    """The player of that name; a seat without a name is the person's."""
    return None if name in (None, HUMAN) else make_player(name, game, settings.run_dir)


def _opponent(settings: PlaySettings, game: Game) -> Player | None:
    """Whom a person plays against who names no more than that."""
    if settings.opponent is not None:
        return _player(settings, game, settings.opponent)
    level = newest_level(settings) if settings.level is None else settings.level
    if settings.level is None and level == 0:
        raise StageError(f"{settings.run_dir} has no trained level; level=0 is the random player")
    return level_player(settings, game, level)
