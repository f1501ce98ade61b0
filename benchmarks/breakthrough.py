"""Prove which player wins Breakthrough on 5x5 squares, from its start or after some moves.

    python benchmarks/breakthrough.py
    python benchmarks/breakthrough.py c2c3 d4d3 --table-bits 20

This is depth-first proof-number search (Nagai, "Df-pn algorithm for searching AND/OR trees and its applications",
2002). A position has two numbers: how many unsolved positions must at least be solved to show that the player to move
wins, and to show that it loses. The search continues below the position that is the cheapest to decide, and leaves it
when another has become cheaper. A table keeps the numbers; positions that it has lost are searched again.
"""

import project_environment

import argparse
from time import process_time

import numba
import numpy as np

from selfplay.cli.entry import reporting_errors
from selfplay.compute.bit_algebra import bit_count
from selfplay.compute.compilation import part_of_compiled
from selfplay.compute.compiled_words import lowest, part
from selfplay.compute.random_numbers import fold
from selfplay.games import State, make_game

WIDTH, SQUARES = 5, 25
BOARD, TOP = (1 << SQUARES) - 1, (1 << WIDTH) - 1
BOTTOM = TOP << (SQUARES - WIDTH)
RULES = make_game("breakthrough").rules
legal_in, played = RULES.legal_actions, RULES.play
Position = RULES.position
FIRST_COLUMN = sum(1 << square for square in range(0, SQUARES, WIDTH))
LAST_COLUMN = FIRST_COLUMN << (WIDTH - 1)

SOLVED = 1 << 30
"""The number of a position that cannot be decided this way any more."""
POLL_INTERVAL = 1 << 20
"""Positions searched before compiled code returns, so that Ctrl-C works."""

OWN, OPP, WIN, LOSS, BELOW = range(5)
"""What is known about a position: the stones of both players, with a bit above those in OPP if the player to move goes
up; its two numbers; and how many positions have been searched below it."""
SEARCHED, LIMIT = range(2)
"""Counts of a search: positions searched, and at most how many."""


@part_of_compiled
def moves_up(opp):
    """1 if the player to move goes up, else 0."""
    return (opp >> SQUARES) & 1


@part_of_compiled
def position_with(own, opp):
    """The position that a table holds as these numbers."""
    return Position(own, opp & BOARD, moves_up(opp))


@part_of_compiled
def legal_actions(own, opp):
    """The rule on numbers."""
    return part(legal_in(position_with(own, opp)), 0)


@part_of_compiled
def play(own, opp, action):
    """Likewise."""
    position = played(position_with(own, opp), action)
    return part(position.own, 0), part(position.opp, 0) | position.up << SQUARES


@part_of_compiled
def mirrored(squares):
    """Left and right exchanged."""
    second, fourth = (squares >> 1) & FIRST_COLUMN, (squares >> 3) & FIRST_COLUMN
    outer = ((squares & FIRST_COLUMN) << 4) | ((squares >> 4) & FIRST_COLUMN)
    return outer | (second << 3) | (fourth << 1) | (squares & (FIRST_COLUMN << 2))


@part_of_compiled
def one_of_both(own, opp):
    """The position or its mirror image, the same for both."""
    own_image, opp_image = mirrored(own), mirrored(opp & BOARD) | (opp & ~BOARD)
    if own_image < own or (own_image == own and opp_image < opp):
        return own_image, opp_image
    return own, opp


@part_of_compiled
def first_numbers(own, opp):
    """The numbers of a position that has not been searched, solved if the match ends within two plies."""
    up = moves_up(opp)
    if own == 0 or opp & (BOTTOM if up else TOP) != 0:
        return SOLVED, 0
    if own & ((TOP << WIDTH) if up else (BOTTOM >> WIDTH)) != 0:
        return 0, SOLVED
    threats = opp & ((BOTTOM >> WIDTH) if up else (TOP << WIDTH))
    if threats == 0:
        return 1, bit_count(legal_actions(own, opp))
    # All that helps is to capture the stone that is one square from the end.
    beside = ((threats & ~FIRST_COLUMN) >> 1) | ((threats & ~LAST_COLUMN) << 1)
    captures = bit_count(own & ((beside << WIDTH) if up else (beside >> WIDTH)))
    return (1, captures) if bit_count(threats) == 1 and captures > 0 else (SOLVED, 0)


@part_of_compiled
def known(own, opp, table):
    """The numbers of a position: those of the table, or the first ones."""
    first = fold(own, opp) & (len(table) - 2)
    for place in range(first, first + 2):
        if table[place, OWN] == own and table[place, OPP] == opp and table[place, BELOW] > 0:
            return table[place, WIN], table[place, LOSS]
    return first_numbers(own, opp)


@part_of_compiled
def keep(own, opp, win, loss, below, table):
    """Write the numbers of a position into one of two places: its own, or that with less work."""
    first = fold(own, opp) & (len(table) - 2)
    place = first + (table[first, BELOW] > table[first + 1, BELOW])
    for same in range(first, first + 2):
        if table[same, OWN] == own and table[same, OPP] == opp:
            place, below = same, below + table[same, BELOW]
    # Even a position with much work gives way at last.
    table[first : first + 2, BELOW] -= table[first : first + 2, BELOW] >> 3
    table[place, OWN], table[place, OPP], table[place, WIN], table[place, LOSS] = own, opp, win, loss
    table[place, BELOW] = below


@numba.njit(nogil=True)
def search(own, opp, most_win, most_loss, ply, children, table, counts):
    """Search below a position until one of its numbers reaches the most that is given; returns its numbers."""
    size, moves = 0, legal_actions(own, opp)
    counts[SEARCHED] += 1
    while moves != 0:
        mine, others = one_of_both(*play(own, opp, lowest(moves)))
        moves &= moves - 1
        win, loss = known(mine, others, table)
        if loss == 0:
            return 0, SOLVED
        if win != 0:
            child = children[ply, size]
            child[OWN], child[OPP], child[WIN], child[LOSS] = mine, others, win, loss
            size += 1
    while True:
        if size == 0:
            return SOLVED, 0
        # To win, one reply must be shown to lose; to lose, all replies must be shown to win.
        best, win, second, loss = 0, SOLVED, SOLVED, 0
        for number in range(size):
            child = children[ply, number]
            if child[LOSS] < win:
                best, win, second = number, child[LOSS], win
            else:
                second = min(second, child[LOSS])
            loss = min(SOLVED, loss + child[WIN])
        if win == 0:
            return 0, SOLVED
        if win >= most_win or loss >= most_loss or counts[SEARCHED] > counts[LIMIT]:
            return win, loss
        child = children[ply, best]
        mine, others, at = child[OWN], child[OPP], counts[SEARCHED]
        # A little more than the second best, so that the search does not change between equal positions all the time.
        most = min(most_win, second + 1 + second // 8)
        child[WIN], child[LOSS] = search(
            mine, others, most_loss - loss + child[WIN], most, ply + 1, children, table, counts
        )
        keep(mine, others, child[WIN], child[LOSS], counts[SEARCHED] - at, table)
        if child[WIN] == 0:
            children[ply, best] = children[ply, size - 1]
            size -= 1


def winner(state: State, table_bits: int = 22) -> tuple[int, int]:
    """The player (0 or 1) who wins with perfect play from a position (B = 1), and the number of positions searched."""
    table = np.zeros((1 << table_bits, BELOW + 1), dtype=np.int64)
    children = np.zeros((make_game("breakthrough").max_game_length, 64, LOSS + 1), dtype=np.int64)
    (start,) = make_game("breakthrough").positions(state)
    own, opp = int(start.own), int(start.opp) | start.up << SQUARES
    with np.errstate(over="ignore"):  # int64s wrap around
        numbers = first_numbers(own, opp)
    counts = np.zeros(2, dtype=np.int64)
    while 0 not in numbers:
        counts[LIMIT] += POLL_INTERVAL
        numbers = search(own, opp, SOLVED, SOLVED, 0, children, table, counts)
    to_move = int(state.current_player)
    return (to_move if numbers[0] == 0 else 1 - to_move), int(counts[SEARCHED])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("moves", nargs="*", help="the moves that lead to the position; the start by default")
    parser.add_argument("--table-bits", type=int, default=22, help="the table has 2**BITS entries of 40 bytes")
    options = parser.parse_args()
    game, start = make_game("breakthrough"), process_time()
    player, searched = winner(game.state_after(options.moves), options.table_bits)
    name = game.presentation.player_names[player]
    print(f"{name} wins: {searched:,} positions searched in {process_time() - start:.0f} s of processor time")


if __name__ == "__main__":
    with reporting_errors():
        main()
