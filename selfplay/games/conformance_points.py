"""The check of `check_game` that the points of a match agree with its result."""

from collections.abc import Iterable, Sequence

import torch

from selfplay.games.conformance_checks import Transition
from selfplay.games.game import Game
from selfplay.games.rules import Position
from selfplay.games.single_positions import expect

RESULTS = {1: "won", 0: "drawn", -1: "lost"}


def check_compiled_points(game: Game, plies: Sequence[Transition]) -> None:
    """`check_points`, and compiled rules give the same leads and points."""
    final, rules = plies[-1].following, game.rules
    ends = game.positions(final)
    check_points(game, ends)
    if rules.margin is not None:
        leads = torch.tensor([int(rules.margin(end)) for end in ends]) * rules.margin_unit
        expect(torch.equal(leads, game.lead_to_move(final)), "the compiled margin differs from the uncompiled one")
    if rules.points is not None:
        points = torch.tensor([list(map(int, rules.points(end))) for end in ends])
        assert game.kernels.points is not None
        expect(torch.equal(points, game.kernels.points(final.position)), "the compiled points differ from uncompiled")


def check_points(game: Game, ends: Iterable[Position]) -> None:
    """Where matches are over, the player who has won is ahead in points, by at most as many as there are."""
    rules, most = game.rules, game.largest_lead
    for end in ends:
        if rules.margin is None:
            continue
        result = int(rules.return_to_move(end))
        lead = int(rules.margin(end)) * rules.margin_unit
        said = f"the player to move has {RESULTS[result]} a match with a lead of {lead:g} points"
        agree = (lead > 0) - (lead < 0) == result
        expect(agree, f"{said}; the sign of margin must be that of return_to_move", rules.margin)
        there_are = f"but the board and the komi give {most} at most; set most_points in the class of the game"
        expect(most is None or abs(lead) <= most, f"a match is won by {abs(lead):g} points, {there_are}")
