"""Connect Four: drawn boards, texts, and random matches against an independent implementation."""

import pytest
import torch

from selfplay import play_matches
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import IllegalActionError
from selfplay.games.connect_four import COLUMNS, ROWS, ConnectFour, has_line
from selfplay.games.state import MATCH_OVER
from selfplay.players.player import RandomPlayer

GAME = ConnectFour()


# ---------------------------------------------------------------------- lines


def lines() -> set[int]:
    """All lines of four squares, found by walking."""
    found = set()
    for row in range(ROWS):
        for column in range(COLUMNS):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                squares = [(row + i * down, column + i * right) for i in range(4)]
                if all(0 <= r < ROWS and 0 <= c < COLUMNS for r, c in squares):
                    found.add(sum(1 << (COLUMNS * r + c) for r, c in squares))
    return found


def test_of_all_sets_of_four_stones_only_the_69_lines_win():
    fours = torch.combinations(torch.arange(ROWS * COLUMNS), 4)
    stones = (torch.ones_like(fours) << fours).sum(dim=1)
    won = set(stones[has_line(stones)].tolist())
    assert len(won) == 69
    assert won == lines()


# ---------------------------------------------------------------------- matches


def test_a_stone_falls_onto_the_stones_of_its_column():
    state = GAME.state_after("4435")
    assert GAME.presentation.board_text(state).splitlines() == [
        ". . . . . . .",
        ". . . . . . .",
        ". . . . . . .",
        ". . . . . . .",
        ". . . O . . .",
        ". . X X O . .",
        "1 2 3 4 5 6 7",
    ]


def test_a_full_column_is_refused_and_the_others_are_named():
    # . . . O . . .
    # . . . X . . .
    # . . . O . . .
    # . . . X . . .
    # . . . O . . .
    # . . . X . . .
    state = GAME.state_after("444444")
    assert GAME.legal_action_mask(state).tolist() == [[True, True, True, False, True, True, True]]
    with pytest.raises(IllegalActionError, match=r"action 4 is not legal here: it is full"):
        GAME.step(state, torch.tensor([3]))


# ---------------------------------------------------------------------- against rules written in another way


def walk(actions: list[int]) -> tuple[list[str], int]:
    """The columns, from the bottom, after a whole match, and its winner (1, -1 or 0); every action is checked."""
    columns, winner = [""] * COLUMNS, 0
    for ply, action in enumerate(actions):
        assert winner == 0
        assert len(columns[action]) < ROWS
        stone = "XO"[ply % 2]
        columns[action] += stone
        if runs_through(columns, action, stone):
            winner = 1 if stone == "X" else -1
    assert winner or all(len(column) == ROWS for column in columns)
    return columns, winner


def runs_through(columns: list[str], column: int, stone: str) -> bool:
    """Whether the topmost stone of the column lies in a run of four or more."""

    def length(right: int, up: int) -> int:
        c, height, count = column + right, len(columns[column]) - 1 + up, 0
        while 0 <= c < COLUMNS and 0 <= height < len(columns[c]) and columns[c][height] == stone:
            c, height, count = c + right, height + up, count + 1
        return count

    return any(length(right, up) + length(-right, -up) >= 3 for right, up in ((0, 1), (1, 0), (1, 1), (1, -1)))


def random_record(matches: int):
    player, key = RandomPlayer(GAME), stream_key(3, 0, Activity.GENERATION)
    (record,) = play_matches(GAME, (player, player), range(matches), key, alternate=False, batch_size=matches)
    return record


def test_random_matches_agree_with_an_independent_implementation():
    record = random_record(300)
    final = record.states[-1]
    for row, sequence in enumerate(record.action_sequences()):
        columns, winner = walk([action for action in sequence.tolist() if action != MATCH_OVER])
        board = [column.ljust(ROWS, ".") for column in columns]
        from_the_top = [[board[c][height] for c in range(COLUMNS)] for height in reversed(range(ROWS))]
        shown = "\n".join(" ".join(cells) for cells in [*from_the_top, map(str, range(1, COLUMNS + 1))])
        assert GAME.presentation.board_text(final, row) == shown
        assert float(final.returns[row]) == winner


# ---------------------------------------------------------------------- what is seen and written


def test_the_observation_is_the_drawn_board_seen_by_the_player_who_has_just_moved():
    # . . . . . . .    three empty rows above
    # O . . . . . .    O has just moved
    # X . . . . . .
    # X . . . . . O
    seen = GAME.observe(GAME.state_after("1711"))
    assert seen.shape == (1, 2, ROWS, COLUMNS)
    assert seen[0].nonzero().tolist() == [[0, 3, 0], [0, 5, 6], [1, 4, 0], [1, 5, 0]]


def test_a_text_that_is_not_a_column_is_refused():
    with pytest.raises(IllegalActionError, match="is not a move; write a column from 1 to 7"):
        GAME.string_to_action("0")


# ---------------------------------------------------------------------- where a person points


def test_any_square_of_a_column_selects_it_and_the_stone_falls():
    state = GAME.state_after("44")
    assert list(GAME.presentation.pointed_squares(3)) == [3, 10, 17, 24, 31, 38]
    assert GAME.presentation.placed_squares(state, range(COLUMNS)) == [35, 36, 37, 24, 39, 40, 41]
    assert (GAME.presentation.square_name(0), GAME.presentation.square_name(38)) == (
        "column 1, row 1",
        "column 4, row 6",
    )
