"""Positions as text: the moves that lead to them, or in Othello a board."""

from selfplay.errors import IllegalActionError, SettingError
from selfplay.games import game_names, make_game
from selfplay.games.game import Game
from selfplay.games.othello import Othello
from selfplay.games.othello_records import width_of_ggf, written_board
from selfplay.games.state import State


def written_position(text: str, game_name: str = Othello.name) -> tuple[Game, State]:
    """Read a board or a transcript; returns the game and the position (a batch of one).

    Args:
        text: a board with the side to move, as `written_board` in `selfplay.games.othello_records` reads it; or the
            moves from the start: f5d6c3, a match in GGF, or in Connect Four the columns: 4453. Empty: the start.
        game_name: a game with an exact solver. Othello has the size of the written board or of the match in GGF, and
            8x8 for a transcript, unless the name has another.

    Raises:
        SettingError: the game is unknown, or the text is not a position of it.
    """
    try:
        board, size = written_board(text), None
        if game_name == Othello.name:
            size = width_of_ggf(text) if board is None else _width_of(board[0])
        game = make_game(game_name, size)
        if game.exact_solver is None:
            solved = ", ".join(name for name in game_names() if make_game(name).exact_solver is not None)
            raise SettingError(f"game={game.name}: positions are solved in {solved} only")
        if board is not None and not isinstance(game, Othello):
            raise SettingError(f"game={game.name}: give the moves from the start; only Othello boards can be read")
        return game, game.position_after(text)
    except IllegalActionError as error:
        raise SettingError(str(error)) from error


def _width_of(board: str) -> int:
    """The squares along a side of a written board. Raises SettingError if no board has as many signs."""
    widths = {size * size: size for size in Othello.sizes}
    if len(board) not in widths:
        squares = ", ".join(map(str, sorted(widths)))
        raise SettingError(f"a board has one of X, O and - for each square; it has {len(board)} signs, not {squares}")
    return widths[len(board)]
