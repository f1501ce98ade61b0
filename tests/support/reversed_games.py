"""Games whose results are reversed, so that who completes a line, or has more discs, loses."""

from functools import cache
from typing import Any

from selfplay.compute.bit_algebra import rule
from selfplay.games.connect_four import ConnectFour
from selfplay.games.go import Go
from selfplay.games.othello import Othello
from selfplay.games.rules import Rules
from selfplay.games.tictactoe import TicTacToe


def reversed_rules(rules: Rules) -> Rules:
    return_to_move: Any = rules.return_to_move
    margin: Any = rules.margin

    @rule
    def reversed_return(p):  # type: ignore[no-untyped-def]
        return -return_to_move(p)

    @rule
    def reversed_margin(p):  # type: ignore[no-untyped-def]
        return -margin(p)

    return rules._replace(return_to_move=reversed_return, margin=margin and reversed_margin)


REVERSED = {width: reversed_rules(TicTacToe(width).rules) for width in TicTacToe.sizes}


class ReversedTicTacToe(TicTacToe):
    """It has the name of its base class."""

    name = "tictactoe"

    def __init__(self, width: int = 3) -> None:
        super().__init__(width)
        self.rules = REVERSED[width]


reversed_go_rules = cache(reversed_rules)


class ReversedGo(Go):
    def __init__(self, width: int = 9, komi: float | None = None) -> None:
        super().__init__(width, komi)
        self.rules = reversed_go_rules(self.rules)


class ReversedConnectFour(ConnectFour):
    rules = reversed_rules(ConnectFour.rules)


class ReversedOthello(Othello):
    def __init__(self, width: int = 4) -> None:
        super().__init__(width)
        self.rules = reversed_rules(self.rules)
