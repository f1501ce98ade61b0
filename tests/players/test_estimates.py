"""What the values are that a player gives to actions."""

from typing import Any

import numpy as np
import pytest

from selfplay.games import make_game
from selfplay.games.position_graph import positions_of
from selfplay.players.estimates import Estimate
from selfplay.players.perfect import PerfectPlayer
from selfplay.players.player import Player
from tests.support.stub_players import FirstLegal

GAME = make_game("tictactoe")
PERFECT, SOLVER = PerfectPlayer(positions_of(GAME)), FirstLegal(GAME)
PROVED = np.ones(9, dtype=np.bool_)


@pytest.mark.parametrize(
    ("player", "said", "kind"),
    [
        (SOLVER, {"in_points": True}, "points"),
        (SOLVER, {"in_points": True, "is_exact": True}, "points"),
        (SOLVER, {}, "results"),
        (SOLVER, {"proved": PROVED}, "results"),
        # Those of a solver of Connect Four say how soon a match is won; those of a list of all positions do not.
        (SOLVER, {"is_exact": True}, "scores"),
        (SOLVER, {"is_exact": True, "proved": PROVED}, "results"),
        (PERFECT, {"is_exact": True}, "results"),
    ],
)
def test_values_are_points_scores_or_results(player: Player, said: dict[str, Any], kind: str) -> None:
    values = np.zeros(9, dtype=np.float32)
    given = {"in_points": False, "visits": None, "is_exact": False} | said
    assert Estimate(player, GAME.init(), values, **given).kind == kind
