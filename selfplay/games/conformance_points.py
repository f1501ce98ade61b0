"""The check of `check_game` that the points of a match agree with its result."""

from collections.abc import Iterable, Sequence

import torch

from selfplay.compute.compiled_words import part
from selfplay.compute.words import WordInt
from selfplay.games.conformance_checks import Transition, expect
from selfplay.games.game import Game
from selfplay.games.numbered_words import NumberedWord
from selfplay.games.single_positions import single_positions

RESULTS = {1: "won", 0: "drawn", -1: "lost"}


def check_compiled_points(game: Game, plies: Sequence[Transition]) -> None:
    """`check_points`, and compiled rules give the same leads."""
    final = plies[-1].following
    ends = single_positions(final)
    check_points(game, ends)
    if game.rules.margin is not None:
        leads = torch.tensor([int(part(game.rules.margin(*words), 0)) for words in ends]) * game.rules.margin_unit
        expect(torch.equal(leads, game.lead_to_move(final)), "the compiled margin differs from the uncompiled one")


def check_points(game: Game, ends: Iterable[tuple[WordInt, WordInt]]) -> None:
    """Where matches are over, the player who has won is ahead in points, by at most as many as there are."""
    rules, most = game.rules, game.largest_lead
    for end in ends:
        # The rules of results do not compare a difference of words as if it had a sign.
        own, opp = map(NumberedWord, end)
        result = int(part(rules.return_to_move(own, opp), 0))
        if rules.margin is None:
            continue
        lead = int(part(rules.margin(own, opp), 0)) * rules.margin_unit
        said = f"the player to move has {RESULTS[result]} a match with a lead of {lead:g} points"
        agree = (lead > 0) - (lead < 0) == result
        expect(agree, f"{said}; the sign of margin must be that of return_to_move")
        there_are = f"but the board and the komi give {most} at most; set most_points in the class of the game"
        expect(most is None or abs(lead) <= most, f"a match is won by {abs(lead):g} points, {there_are}")
