"""Positions as text: the moves that lead to them, or in Othello a board."""

from selfplay.errors import IllegalActionError, SettingError
from selfplay.games import GAMES
from selfplay.games.game import Game
from selfplay.games.othello import DISCS, Othello
from selfplay.games.state import State


def written_position(text: str, side: str | None = None, game_name: str | None = None) -> tuple[Game, State]:
    """Read a board or a transcript; returns the game and the position (a batch of one).

    Args:
        text: with `side`, one character per square (X black, O white, - empty); else the moves from the start: f5d6c3,
            or in Connect Four the columns: 4453.
        side: the player to move, X or O.
        game_name: a game with an exact solver; None to choose Othello by the size of the board, 8x8 for a transcript.

    Raises:
        SettingError: the game is unknown, or the text is not a position of it.
    """
    games = {name: kind() for name, kind in GAMES.items() if kind.exact_solver is not None}
    if game_name is not None and game_name not in games:
        raise SettingError(f"game={game_name}: positions are solved in {', '.join(games)} only")
    by_size = {game.width * game.width: game for game in games.values() if isinstance(game, Othello)}
    is_board = set(text) <= set(DISCS)
    if is_board and side is None:
        raise SettingError("after a board comes the side to move, X or O")
    if is_board and game_name is None and len(text) not in by_size:
        sizes = ", ".join(map(str, sorted(by_size)))
        raise SettingError(f"a board has one of X, O and - for each square; it has {len(text)} signs, not {sizes}")
    game = games[game_name] if game_name else by_size.get(len(text) if side else 0, games[Othello.name])
    try:
        if side is not None:
            if not isinstance(game, Othello):
                raise SettingError(f"game={game.name}: give the moves from the start; only Othello boards can be read")
            return game, game.read_board(text, side)
        return game, game.state_after(map(game.action_to_string, game.read_transcript(text)))
    except IllegalActionError as error:
        raise SettingError(str(error)) from error
