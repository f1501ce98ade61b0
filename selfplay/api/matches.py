"""Matches and exact grades of players and games, which may be given by their names."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from selfplay.checks import SEEDS, Range, require, whole_number
from selfplay.compute.devices import CPU
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.games import Game, make_game
from selfplay.games.state import MatchRecord
from selfplay.games.win_draw_loss import WinDrawLoss
from selfplay.grading.proof import Grade, Grader
from selfplay.matches.series import Series, copies_text, openings_text
from selfplay.named_players.make import make_pair, make_player
from selfplay.players.player import Player
from selfplay.settings.recorded import settings_of_run

log = logging.getLogger(__name__)

USUAL_GAME = "tictactoe"


def match(
    first: Player | str,
    second: Player | str,
    *,
    game: Game | str | None = None,
    matches: int = 100,
    seed: int = 0,
    run_dir: str | Path | None = None,
    opening_plies: int | None = None,
) -> WinDrawLoss[int]:
    """The matches that `first` wins, draws and loses against `second`: `match("level:2", "random", matches=100)`.

    The players move first in turns, and do not learn from the matches. The log says if matches are copies of others.

    Args:
        first: a player, or its name as for `make_player`.
        second: the other player, or its name.
        game: the game, or its name; None: that of a player that is given as an object, otherwise that of `run_dir`,
            otherwise tictactoe.
        run_dir: the run of the levels that the names refer to; None: the usual one of the game.
        opening_plies: number of random plies at the start, the same in both matches of each consecutive pair. None: 0,
            or `usual_opening_plies` if the players would repeat the same matches.

    Raises as `make_player`, and SettingError if a number is not a whole number or out of range.

    Examples:
        >>> print(selfplay.match("perfect", "random", matches=100))  # tic-tac-toe, unless game says otherwise
        85-15-0
    """
    game, matches = _game_of_match(game, (first, second), run_dir), whole_number("matches", matches, Range(1))
    seed = whole_number("seed", seed, Range(*SEEDS))
    players = make_pair(first, second, game, run_dir)
    series = Series(range(matches), stream_key(seed, 0, Activity.NAMED_PLAYERS), opening_plies=opening_plies)
    played = series.play(game, players)
    if played.opening_plies and opening_plies is None:
        log.info("%s", openings_text(played.opening_plies))
    if played.evidence.matches < played.results.matches:
        log.info("%s", copies_text(played.distinct, matches))
    return played.results


def _game_of_match(game: Game | str | None, players: tuple[Any, Any], run_dir: str | Path | None) -> Game:
    """The game of a match, as `match` finds it."""
    if game is None:
        games = (getattr(player, "game", None) for player in players)
        game = next((one for one in games if one is not None), None)
    if game is None:
        game = USUAL_GAME if run_dir is None else str(settings_of_run(run_dir).game.name)
    return make_game(game)


def grade(game: Game | str, player: Player | str) -> Grade:
    """The exact grade of a player; its text says whether the player can lose. `Grader` grades several players.

    Args:
        game: the game, or its name.
        player: the player, or its name.

    Raises GameTooLargeError if the game cannot be enumerated, NotNowError if the player has no policy, and as
    `make_player`.

    Examples:
        >>> print(selfplay.grade("tictactoe", "perfect"))
        perfect cannot lose: all 40480 lines tried, 31040 moving first, 9440 moving second.
    """
    game = make_game(game)
    return Grader(game).grade(make_player(player, game))


def play_matches(
    game: Game | str,
    players: tuple[Player | str, Player | str],
    matches: range,
    key: int,
    *,
    alternate: bool = True,
    learn: bool = True,
    opening_plies: int = 0,
    batch_size: int | None = None,
    device: str = CPU,
) -> Iterator[MatchRecord]:
    """Play the matches with these numbers, in batches. The batch size does not change any match.

    Matches of players that learn or follow their match are played one at a time. A learner is shown each match before
    the next one begins. A forfeited match ends at that ply, and the log says why.

    Args:
        game: the game, or its name.
        players: two players, or their names; may be the same player twice, who then learns once from each match
            against itself.
        key: of the random numbers, see `stream_key`.
        alternate: True: the first player moves first in matches with even numbers and second in the others. False: it
            moves first in all of them.
        learn: whether players that learn from their matches do so.
        opening_plies: number of random plies at the start, the same in both matches of each consecutive pair.
        batch_size: number of matches in a batch; None: as many as fit into memory and run fast.
        device: cpu or cuda. The players compute there from now on, and the matches are played there if both can.

    Raises SettingError for an argument that is out of range, or a player of another game, and as `make_player`.

    Examples:
        >>> records = selfplay.play_matches("tictactoe", ("perfect", "random"), range(100), key=0)
        >>> sum(int((record.returns() < 0).sum()) for record in records)  # matches lost by the first player
        0
    """
    game = make_game(game)
    require("players", players, isinstance(players, list | tuple) and len(players) == 2, "two players or their names")
    require("matches", matches, isinstance(matches, range), "a range of match numbers, such as range(100)")
    key, opening_plies = whole_number("key", key), whole_number("opening_plies", opening_plies, Range(0))
    if batch_size is not None:
        batch_size = whole_number("batch_size", batch_size, Range(1))
    series = Series(matches, key, alternate, learn, opening_plies=opening_plies, batch_size=batch_size, device=device)
    return series.records(game, make_pair(*players, game))
