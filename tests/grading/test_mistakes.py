"""Positions solved exactly as a test for players: their groups, how they are drawn, their file, and grades."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from selfplay.games import make_game
from selfplay.grading import mistakes as positions_module
from selfplay.grading.compared_players import ValuedPosition
from selfplay.grading.mistakes import (
    GROUPS,
    group_of,
    judged_positions,
    positions_of_groups,
)
from selfplay.grading.solved_positions import MoveQuality, SolvedPositions
from selfplay.players.perfect import SolverPlayer
from selfplay.players.player import RandomPlayer
from selfplay.runs.kept_positions import kept_in
from selfplay.search.exact_solver import ExactSolver, make_exact_solver
from tests.support.stub_players import FirstLegal

GAME = make_game("connect_four")
KEY = 11


@cache
def the_solver() -> ExactSolver:
    return make_exact_solver(GAME)


@cache
def drawn() -> list[ValuedPosition]:
    return positions_of_groups(the_solver(), 1, KEY)


def plain(positions: list[ValuedPosition]) -> list[tuple[object, ...]]:
    return [(each.group, each.state.key(), dict(each.values)) for each in positions]


def stones_of(position: ValuedPosition) -> int:
    return int(GAME.stone_counts(position.state))


# ---------------------------------------------------------------------- drawing


def test_each_group_has_the_requested_number_of_different_positions():
    assert [position.group for position in drawn()] == list(GROUPS)
    assert len({position.state.key() for position in drawn()}) == 6


def test_drawn_positions_belong_to_their_groups_and_the_choice_matters():
    solver = the_solver()
    for position in drawn():
        assert position.values == solver.action_values(position.state)
        value = max(position.values.values())
        assert value == solver.value(position.state)
        assert value >= 0
        assert any(other < 0 or (other == 0 and value > 0) for other in position.values.values())
        line = solver.solve(position.state).principal_variation
        assert position.group == group_of(stones_of(position), len(line), 42)
        assert int(position.state.current_player) == stones_of(position) % 2


# ---------------------------------------------------------------------- grades


def together(*lines: str):
    states = [GAME.state_after(line.split()) for line in lines]
    return type(states[0])(*(torch.cat(fields) for fields in zip(*states, strict=True)))


class LastLegal(FirstLegal):
    """Plays the highest legal action."""

    def act(self, state, draws):
        return 6 - self.game.legal_action_mask(state).flip(1).to(torch.uint8).argmax(dim=1)


def test_grades_of_known_values():
    # In the third position column 1 is full, so the lowest action is column 2.
    state = together("1 7 2 7 3 7", "4", "1 1 1 1 1 1")
    values = np.array([[3, -2, 0, 18, 0, 0, 3], [-4, -2, -2, -1, -2, -2, 0], [np.nan, 5, 4, 3, 2, 1, 0]])
    judged = SolvedPositions(state, values, ("middle-easy", "begin-hard", "begin-hard"))
    # The lowest action: 3 of 18, still a win; -4 of 0, a mistake; 5 of 5, perfect.
    assert judged.grade(FirstLegal(GAME)).overall == pytest.approx((3, 1 / 3, 1 / 3, (15 + 4 + 0) / 3))
    # The highest action: 3 of 18; 0 of 0, perfect; 0 of 5, a win given away.
    grade = judged.grade(LastLegal(GAME))
    assert grade.overall == pytest.approx((3, 1 / 3, 1 / 3, (15 + 0 + 5) / 3))
    assert list(grade.groups) == ["middle-easy", "begin-hard"]
    assert grade.groups["middle-easy"] == MoveQuality(1, 0, 0, 15)
    assert grade.groups["begin-hard"] == MoveQuality(2, 0.5, 0.5, 2.5)
    # The random player counts by its probabilities: mistakes are 4 of 7, 6 of 7 and 1 of 6 actions.
    random = judged.grade(RandomPlayer(GAME)).overall
    assert random.mistakes == pytest.approx((4 / 7 + 6 / 7 + 1 / 6) / 3)
    assert random.perfect == pytest.approx((1 / 7 + 1 / 7 + 1 / 6) / 3)


def test_perfect_play_makes_no_mistakes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(positions_module, "positions_of_groups", lambda solver, count, *_: drawn())
    judged = judged_positions(the_solver(), 2, 0)
    assert judged is not None
    grade = judged.grade(SolverPlayer(the_solver()))
    assert grade.overall == pytest.approx((6, 0, 1, 0))
    assert list(grade.groups) == list(GROUPS)


# ---------------------------------------------------------------------- the file


def test_solved_positions_are_read_from_their_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path, keep = tmp_path / "judged_positions.csv", kept_in(tmp_path, GAME)
    monkeypatch.setattr(positions_module, "positions_of_groups", lambda solver, count, *_: drawn()[:count])
    judged = judged_positions(the_solver(), 3, 0, keep=keep)
    assert judged is not None
    written = path.read_bytes()
    assert written.startswith(b"position,group,own,opp,to_move,action,value\n0,end-easy,")
    lines = written.splitlines(keepends=True)
    for content in (b"", written[:-4], lines[0] + lines[1], b"\xff", written.replace(b"0,end-easy", b"0,end-hard", 1)):
        path.write_bytes(content)
        judged_positions(the_solver(), 3, 0, keep=keep)
        assert path.read_bytes() == written
    # With another number or seed the positions are drawn anew.
    judged_positions(the_solver(), 2, 0, keep=keep)
    assert len(path.read_bytes()) < len(written)
    judged_positions(the_solver(), 3, 0, keep=keep)
    monkeypatch.setattr(positions_module, "positions_of_groups", None)
    again = judged_positions(the_solver(), 3, 0, keep=keep)
    assert again is not None
    assert np.array_equal(judged.values, again.values, equal_nan=True)
    assert all(torch.equal(one, other) for one, other in zip(judged.state, again.state, strict=True))
    assert (again.groups, path.read_bytes()) == (judged.groups, written)
