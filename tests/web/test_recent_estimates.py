"""The values that are kept for later requests."""

import weakref

import numpy as np

from selfplay.games import make_game
from selfplay.players.estimates import Estimate
from selfplay.web.recent_estimates import MOST_PLAYERS, RecentEstimates
from tests.support.stub_players import FirstLegal


def test_values_of_many_players_are_dropped_with_their_players() -> None:
    game = make_game("tictactoe")
    recent, state = RecentEstimates(), game.init()
    players = [FirstLegal(game) for _ in range(MOST_PLAYERS + 1)]
    for number, player in enumerate(players):
        recent.keep(("first", number), Estimate(player, state, np.zeros(9), False, None, False))
        # The first player goes on, so that the second one is the one whose values are the oldest.
        recent.keep(("again", 0), Estimate(players[0], state, np.ones(9), False, None, False))
    kept = [number for number in range(len(players)) if recent.get(("first", number)) is not None]
    assert kept == [0, *range(2, MOST_PLAYERS + 1)]
    oldest = weakref.ref(players[1])
    del players, player
    assert oldest() is None
