"""The check of a strategy follows every reply, and refutes a strategy that loses or is incomplete."""

from pathlib import Path

import numpy as np
import torch

from selfplay.games import make_game
from selfplay.games.distinct_positions import distinct_positions
from tests.support.runs import PROJECT, run_forked

SCRIPT = PROJECT / "benchmarks" / "winning_strategy.py"


def checked(folder: Path, plies: int) -> str:
    """The result of the check of the strategy that takes the leftmost free column in the first plies."""
    game, columns = make_game("connect_four"), []
    state = game.init()
    for _ in range(0, plies, 2):
        actions = game.legal_action_mask(state).int().argmax(dim=1)
        columns.append(torch.cat([state.position, actions[:, None]], dim=1))
        after = game.step(state, actions)
        rows, replies = game.legal_action_mask(after).nonzero(as_tuple=True)
        state = game.step(after.select(rows), replies)
        state = state.select(distinct_positions(state.position)[0])
        state = state.select((~state.terminated).nonzero()[:, 0])
    mine, theirs, column = torch.cat(columns).numpy().T
    np.savez(folder / "strategy.npz", mine=mine, theirs=theirs, column=column, endgame=42 - plies)
    done = run_forked(SCRIPT, "check", str(folder / "strategy.npz"))
    return done.stdout + done.stderr


def test_every_reply_is_followed(tmp_path: Path) -> None:
    # Two replies in other columns than the first make 21 positions in either order, others 6, 6 and 1.
    text = checked(tmp_path, 4)
    assert "wins moving first against every play: all 8 positions checked; 34 positions with at most 38 empty" in text


def test_a_strategy_that_loses_is_refuted(tmp_path: Path) -> None:
    assert "a match is lost" in checked(tmp_path, 10)
