"""Matches as they were written, from several files."""

import pytest
import torch

from selfplay.games import make_game
from selfplay.records.written import WrittenMatch, WrittenMoves, concatenated, moves_of

GAME = make_game("tictactoe")
START = GAME.state_after(["0,0", "1,1"])
MATCHES = [
    WrittenMatch([4, 0, 8], returned=1.0, seats=[0, 1, 0]),
    "it cannot be read",
    WrittenMatch([2, 3, 5, 6, 7], points=-2.0),
    WrittenMatch([1], start=START),
    WrittenMatch([], seats=[]),
]


def values_of(moves: WrittenMoves) -> list[object]:
    found = [moves.actions, moves.returns.nan_to_num(-9), moves.points.nan_to_num(-9), moves.known_seats()]
    return [*(one.tolist() for one in found), None if moves.starts is None else moves.starts.position.tolist()]


@pytest.mark.parametrize("ends", [[5], [1, 5], [2, 3, 5], [1, 2, 3, 4, 5]])
def test_parts_have_the_matches_of_the_whole(ends: list[int]) -> None:
    whole = moves_of(MATCHES, GAME)
    parts = [moves_of(MATCHES[start:end], GAME) for start, end in zip([0, *ends], ends, strict=False)]
    joined = concatenated(parts, GAME)
    assert values_of(joined) == values_of(whole)
    assert joined.broken == whole.broken == {1: "it cannot be read"}
    assert whole.known_seats()[0].tolist() == [0, 1, 0, -1, -1]
    assert torch.equal(whole.actions[2], torch.tensor([2, 3, 5, 6, 7]))
