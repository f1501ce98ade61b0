"""Positions as text: the moves that lead to them, or in Othello a board."""

from selfplay.errors import IllegalActionError, SettingError
from selfplay.games import game_names, make_game
from selfplay.games.game import Game
from selfplay.games.othello import DISCS, Othello
from selfplay.games.state import State


def written_position(
    text: str, side: str | None = None, game_name: str | None = None, size: int | None = None
) -> tuple[Game, State]:
    """Read a board or a transcript; returns the game and the position (a batch of one).

    Args:
        text: with `side`, one character per square (X black, O white, - empty); else the moves from the start: f5d6c3,
            or in Connect Four the columns: 4453.
        side: the player to move, X or O.
        game_name: a game with an exact solver; None for Othello.
        size: of its board; None: as the name says, or without a name the size of the written board, 8x8 for a
            transcript.

    Raises:
        SettingError: the game is unknown, or the text is not a position of it.
    """
    is_board = set(text) <= set(DISCS)
    if is_board and side is None:
        raise SettingError("after a board comes the side to move, X or O")
    if side is not None and game_name is None and size is None:
        by_squares = {size * size: size for size in Othello.sizes}
        if is_board and len(text) not in by_squares:
            squares = ", ".join(map(str, sorted(by_squares)))
            raise SettingError(
                f"a board has one of X, O and - for each square; it has {len(text)} signs, not {squares}"
            )
        size = by_squares.get(len(text))
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
