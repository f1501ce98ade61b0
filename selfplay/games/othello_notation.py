"""Positions as text: the moves that lead to them, or in Othello a board."""

from selfplay.errors import IllegalActionError, SettingError
from selfplay.games import game_names, make_game
from selfplay.games.game import Game
from selfplay.games.othello import DISCS, Othello, board_signs
from selfplay.games.othello_records import width_of_ggf
from selfplay.games.state import State


def written_position(
    text: str, side: str | None = None, game_name: str | None = None, size: int | None = None
) -> tuple[Game, State]:
    """Read a board or a transcript; returns the game and the position (a batch of one).

    Args:
        text: a board as for `Othello.read_board`, which may end with the side to move; or the moves from the start:
            f5d6c3, a match in GGF, or in Connect Four the columns: 4453.
        side: the player to move after a board, X or O.
        game_name: a game with an exact solver; None for Othello.
        size: of its board; None: the size in the name. Without a name it is the size of the written board or of the
            match in GGF, and 8x8 for a transcript.

    Raises:
        SettingError: the game is unknown, or the text is not a position of it.
    """
    by_squares, signs = {size * size: size for size in Othello.sizes}, board_signs(text)
    is_board = set(signs) <= set(DISCS)
    if is_board and side is None:
        if len(signs) in by_squares or len(signs) < 2:
            raise SettingError("after a board comes the side to move, X or O")
        text, side, signs = signs[:-1], signs[-1], signs[:-1]
    if game_name is None and size is None:
        if side is None:
            size = width_of_ggf(text)
        elif is_board and len(signs) not in by_squares:
            squares = ", ".join(map(str, sorted(by_squares)))
            raise SettingError(
                f"a board has one of X, O and - for each square; it has {len(signs)} signs, not {squares}"
            )
        else:
            size = by_squares.get(len(signs))
    game = make_game(game_name or Othello.name, size)
    if game.exact_solver is None:
        solved = ", ".join(name for name in game_names() if make_game(name).exact_solver is not None)
        raise SettingError(f"game={game.name}: positions are solved in {solved} only")
    try:
        if side is not None:
            if not isinstance(game, Othello):
                raise SettingError(f"game={game.name}: give the moves from the start; only Othello boards can be read")
            return game, game.read_board(text, side)
        return game, game.position_after(text)
    except IllegalActionError as error:
        raise SettingError(str(error)) from error
