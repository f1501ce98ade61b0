"""The values that are kept for later requests."""

import weakref

import numpy as np

from selfplay.games import Game, State, make_game
from selfplay.players.estimates import Estimate
from selfplay.players.player import Player
from selfplay.web.recent_estimates import MOST_PLAYERS, RecentEstimates
from tests.support.stub_players import FirstLegal


class InWords(FirstLegal):
    """Puts its values in words, so that they are nothing without it."""

    def value_text(self, value: float, state: State, row: int = 0) -> str:
        return f"{value:g} coins"


def estimate_of(player: Player, game: Game) -> Estimate:
    return Estimate(player, game.init(), np.zeros(9, dtype=np.float32), False, None, is_exact=True)


def test_a_player_is_not_held_by_its_values() -> None:
    game, recent = make_game("tictactoe"), RecentEstimates()
    player = FirstLegal(game)
    held = weakref.ref(player)
    recent.keep("key", estimate_of(player, game))
    del player
    assert held() is None
    found = recent.get("key")
    assert found is not None
    assert (found.player.name, found.words(4)) == ("first legal", None)


def test_players_that_put_values_in_words_are_held_up_to_a_number() -> None:
    game, recent = make_game("tictactoe"), RecentEstimates()
    players = [InWords(game) for _ in range(MOST_PLAYERS + 1)]
    for number, player in enumerate(players):
        recent.keep(("its own", number), estimate_of(player, game))
        # The first player is used again each time, so the values of the second one are the oldest.
        recent.keep("again", estimate_of(players[0], game))
    found = [recent.get(("its own", number)) for number in range(len(players))]
    assert [number for number, one in enumerate(found) if one is None] == [1]
    assert found[0] is not None
    assert found[0].words(4) == "0 coins"
    dropped = weakref.ref(players[1])
    del players, player
    assert dropped() is None
