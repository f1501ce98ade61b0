"""Go: numbers of legal positions, captures, ko, the end of a match and its score, and the matches of OpenSpiel."""

import pytest
import torch

from selfplay.games.go import go_rules

BLACK, WHITE = 1, -1


def reachable_boards(width: int) -> int:
    """The number of boards that can be reached, each seen by the player to move; passes allowed, plies not counted."""
    rules, size = go_rules(width, 0.0), width * width
    board = (1 << size) - 1
    found = new = torch.zeros(1, 2, dtype=torch.int64)
    while len(new):
        reached = [new.flip(1)]  # a pass
        for action in range(size):
            legal = rules.legal_actions(new[:, 0], new[:, 1])
            own, opp = new[(legal >> action) & 1 == 1].unbind(1)
            reached.append(torch.stack(rules.play(own, opp, torch.full_like(own, 1 << action)), dim=1) & board)
        known = len(found)
        found, places = torch.cat([found, *reached]).unique(dim=0, return_inverse=True)
        is_new = torch.ones(len(found), dtype=torch.bool)
        is_new[places[:known]] = False
        new = found[is_new]
    own, opp = found.unbind(1)
    return len(torch.stack([own & ~opp, opp & ~own], dim=1).unique(dim=0))


@pytest.mark.parametrize(("width", "count"), [(2, 57), (3, 12_675)])
def test_the_boards_that_can_be_reached_are_tromps_legal_positions(width: int, count: int) -> None:
    """Tromp & Farnebäck, "Combinatorics of Go", 2007, table 4."""
    assert reachable_boards(width) == count
