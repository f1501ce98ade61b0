"""Endgame positions: they are solved exactly, kept in a file, and grade a player."""

from pathlib import Path

import numpy as np
import pytest
import torch

from selfplay.games import make_game
from selfplay.grading.solved_positions import empty_squares, endgame_positions
from selfplay.named_players.make import make_player
from selfplay.runs.kept_positions import kept_in
from selfplay.runs.manifest import Manifest
from selfplay.search.endgame.solver import EndgameSolver
from selfplay.stages.measure_levels import fitting_evaluation
from tests.support.rejections import assert_file_rejected

CONNECT_FOUR, OTHELLO = make_game("connect_four"), make_game("othello")


@pytest.mark.slow
def test_the_losses_of_greedy_play_equal_brute_force_over_the_solver() -> None:
    late = endgame_positions(OTHELLO, 12, 0, fitting_evaluation(OTHELLO))
    assert late is not None
    empties = empty_squares(OTHELLO, late.state)
    assert sorted(set(empties.tolist())) == [12, 13, 14]
    greedy = make_player("greedy_discs", OTHELLO, "")
    solver, given, optimal, count = EndgameSolver(OTHELLO), 0, 0, late.state.batch_size
    for row in range(count):
        position = late.state.select(torch.tensor([row]))
        following = {
            action: -solver.value(OTHELLO.step(position, torch.tensor([action])))
            for action in OTHELLO.legal_action_mask(position)[0].nonzero()[:, 0].tolist()
        }
        discs = {
            action: -int(OTHELLO.lead_to_move(after))
            for action in following
            for after in [OTHELLO.step(position, torch.tensor([action]))]
        }
        taken = min(action for action in discs if discs[action] == max(discs.values()))
        given += max(following.values()) - following[taken]
        optimal += max(following.values()) == following[taken]
    quality = late.grade(greedy).overall
    assert (quality.perfect, quality.points_lost) == pytest.approx((optimal / count, given / count))
    assert given > 0


@pytest.mark.slow
def test_solved_positions_are_not_solved_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, keep = tmp_path / "endgames.csv", kept_in(tmp_path, OTHELLO)
    # As in tic-tac-toe, where the text of an action has a comma.
    monkeypatch.setattr(OTHELLO, "action_to_string", lambda action: f"{action},0")
    late = endgame_positions(OTHELLO, 3, 0, keep=keep)
    written = path.read_bytes()
    assert written.decode().splitlines()[0] == "position,own,opp,to_move,action,value"
    # Truncated, another position, a value out of range, not text: each file is written again with the same bytes.
    first = written.splitlines(keepends=True)[1]
    broken = [written[:-4], written.replace(b"0,", b"1,", 1), written.replace(first, first[:-1] + b"99\n"), b"\xff"]
    # A value that is possible, but wrong, and a row that is missing at the end.
    start, _, value = first.rpartition(b",")
    broken += [written.replace(first, b"%b,%d\n" % (start, int(value) + 2)), written[: written[:-1].rindex(b"\n") + 1]]
    for content in broken:
        path.write_bytes(content)
        endgame_positions(OTHELLO, 3, 0, keep=keep)
        assert path.read_bytes() == written
    # Harmful files whose manifest agrees with them.
    manifest, (_, own, _, to_move, _) = Manifest(tmp_path), first.decode().split(",", 4)
    section = manifest.sections["endgames"]
    for old, new in [
        (f"0,{own},", f"0,{2**63 - 1},"),  # stones of both players on a square
        (f"0,{own},", f"0,{2**90},"),
        (f"0,{own},", "0,,"),
        (f",{to_move},", ",300,"),
        ("action", "deed"),
        (first.decode(), first.decode().replace('"', '"1')),  # another action
        (first.decode().splitlines()[0], start.decode() + f",{10**7}"),
        (first.decode(), ""),
    ]:
        path.write_text(written.decode().replace(old, new))
        manifest.record("endgames", section["settings"], section["counts"], ["endgames.csv"])
        with assert_file_rejected(path, "is not a table of solved positions .*; delete it and compare the levels"):
            endgame_positions(OTHELLO, 3, 0, keep=keep)
    path.write_bytes(written)
    manifest.record("endgames", section["settings"], section["counts"], ["endgames.csv"])
    monkeypatch.setattr("selfplay.grading.solved_positions.action_values_to_the_end", None)
    again = endgame_positions(OTHELLO, 3, 0, keep=keep)
    assert late is not None and again is not None  # noqa: PT018
    assert np.array_equal(late.values, again.values, equal_nan=True)
    assert path.read_bytes() == written


def test_endgame_positions_exist_only_for_boards_and_on_request(tmp_path: Path) -> None:
    assert endgame_positions(make_game("sumto100"), 5, 0, keep=kept_in(tmp_path, OTHELLO)) is None
    assert endgame_positions(OTHELLO, 0, 0, keep=kept_in(tmp_path, OTHELLO)) is None
    # Stones are captured or moved, so that few empty squares do not mean a near end.
    for game in (make_game("go", 3), make_game("breakthrough")):
        assert endgame_positions(game, 5, 0, keep=kept_in(tmp_path, game)) is None
    assert list(tmp_path.iterdir()) == []
