"""Functions of the core that play or grade, for players and games that may also be names."""

from collections.abc import Iterator

from selfplay.checks import Range, require, whole_number
from selfplay.compute.devices import CPU
from selfplay.games import Game, make_game
from selfplay.games.state import MatchRecord
from selfplay.grading import proof
from selfplay.grading.proof import Grade
from selfplay.matches.series import Series
from selfplay.named_players.make import make_pair, make_player
from selfplay.players.player import Player


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
    return proof.grade(game, make_player(player, game))


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
