"""The check of `check_game` that the points of a match agree with its result."""

from collections.abc import Sequence

import torch

from selfplay.compute.stored_words import single_word
from selfplay.games.conformance_checks import Transition, expect
from selfplay.games.game import Game
from selfplay.games.numbered_words import NumberedWord
from selfplay.games.state import State

RESULTS = {1: "won", 0: "drawn", -1: "lost"}


def check_compiled_points(game: Game, plies: Sequence[Transition]) -> None:
    """`check_points`, and compiled rules give the same leads."""
    final = plies[-1].following
    check_points(game, final)
    if game.rules.margin is not None:
        leads = game.kernels.leads(final) * game.rules.margin_unit
        expect(torch.equal(leads, game.lead_to_move(final)), "the compiled margin differs from that of tensors")


def check_points(game: Game, final: State) -> None:
    """Where matches are over, the player who has won is ahead in points, by at most as many as there are."""
    ends = final.select(final.terminated)
    _check_signs(game, ends)
    scores, most = game.score(ends), game.largest_lead
    for score, result in zip(scores.tolist(), ends.returns.tolist(), strict=True):
        agree = (score > 0) - (score < 0) == result
        said = f"player 0 has {RESULTS[int(result)]} a match with a lead of {score:g} points"
        expect(agree, f"{said}; the sign of margin must be that of return_to_move")
        fits = most is None or game.rules.margin is None or abs(score) <= most
        there_are = f"but the board and the komi give {most} at most; set most_points in the class of the game"
        expect(fits, f"a match is won by {abs(score):g} points, {there_are}")


def _check_signs(game: Game, ends: State) -> None:
    """The rules of results do not compare a difference of words as if it had a sign."""
    rules = [function for function in (game.rules.return_to_move, game.rules.margin) if function is not None]
    for row in range(ends.batch_size):
        words = [NumberedWord(single_word(stored, row)) for stored in (ends.own, ends.opp)]
        for function in rules:
            function(*words)
