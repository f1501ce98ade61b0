"""Domineering on 8x8 squares (Andersson, 1973): X lays dominoes upright, O lays them across; who cannot move loses.

Bit i of a board is square i, rows from the top. Action i lays a domino whose upper or left half is on square i.

    selfplay learn game=domineering:Domineering
"""

from typing import NamedTuple

from selfplay import Game, Presentation, Rules, Word, flag, position, rule, squares, word_of

WIDTH = 8
SQUARES = WIDTH * WIDTH
BOARD, FIRST = word_of(range(SQUARES)), word_of([0], SQUARES)
NOT_RIGHT = word_of(square for square in range(SQUARES) if square % WIDTH < WIDTH - 1)


@position
class Position(NamedTuple):
    own: Word = squares(SQUARES)
    opp: Word = squares(SQUARES)
    across: int = flag()  # whether the player to move is O


@rule
def legal_actions(p: Position) -> Word:
    free = BOARD & ~(p.own | p.opp)
    if p.across:
        return free & (free >> 1) & NOT_RIGHT
    return free & (free >> WIDTH)


@rule
def play(p: Position, action: int) -> Position:
    first = FIRST << action
    domino = first | (first << (1 if p.across else WIDTH))
    return Position(p.opp, p.own | domino, 1 - p.across)


class DomineeringPresentation(Presentation):
    title = "Domineering"
    player_names = ("X", "O")
    aim = "Be the last player who can lay a domino."
    action_help = "the upper or left square of a domino, such as c4"
    how_to_play = (
        "X moves first; then the players take turns.",
        "X lays a domino on two empty squares, one above the other.",
        "O lays a domino on two empty squares side by side.",
        "Who cannot lay one loses. There are no draws.",
    )
    column_names = "abcdefgh"
    hidden_fields = ("across",)


class Domineering(Game):
    name = "domineering"
    num_distinct_actions = SQUARES
    observation_shape = (3, WIDTH, WIDTH)
    max_game_length = SQUARES // 2
    rules = Rules(Position(0, 0, 0), legal_actions, play)
    presentation_class = DomineeringPresentation

    def action_to_string(self, action: int) -> str:
        return f"{'abcdefgh'[action % WIDTH]}{action // WIDTH + 1}"
