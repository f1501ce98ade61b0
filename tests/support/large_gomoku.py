"""A game without a recipe of its name, on a board of 400 squares."""

from selfplay.games.gomoku import Gomoku


class LargeGomoku(Gomoku):
    def __init__(self) -> None:
        super().__init__(20)
