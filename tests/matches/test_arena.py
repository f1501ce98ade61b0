"""The arena: matches do not depend on the batch, and records contain every ply."""

from functools import cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from selfplay import play_matches
from selfplay.architectures import build_network
from selfplay.games import make_game
from selfplay.games.state import MATCH_OVER
from selfplay.players.exploring import EpsilonGreedyPlayer
from selfplay.players.player import RandomPlayer
from selfplay.players.value_net import ValueNetPlayer
from tests.support.stub_players import FirstLegal

GAME = make_game("tictactoe")
RANDOM = RandomPlayer(GAME)


class Asked(FirstLegal):
    """Records which matches it was asked about."""

    def __init__(self):
        super().__init__(GAME)
        self.asked = []

    def act(self, state, draws):
        self.asked.append((draws.ply, draws.match.tolist(), state.current_player.tolist()))
        return super().act(state, draws)


def exploring_network(game=GAME, name="mlp", **options):
    torch.manual_seed(5)
    network = build_network({"name": name, **options}, game.observation_shape, game.num_distinct_actions)
    return EpsilonGreedyPlayer(game, ValueNetPlayer(game, network), [0.5, 0.2])


def outcome(records):
    """The matches as comparable values: number, seat, actions, return."""
    return [
        (number, seat, tuple(action for action in actions if action != MATCH_OVER), result)
        for record in records
        for number, seat, actions, result in zip(
            record.match.tolist(),
            record.seats.tolist(),
            record.action_sequences().tolist(),
            record.returns().tolist(),
            strict=True,
        )
    ]


PLAYERS = {
    "random": (RANDOM, RANDOM),
    "mlp": (exploring_network(hidden_sizes=[256]),) * 2,
    "conv": (exploring_network(name="conv", channels=16, hidden_sizes=[32]), RANDOM),
}


@cache
def whole(name):
    """All 300 matches of these players, played in one batch."""
    return outcome(play_matches(GAME, PLAYERS[name], range(300), key=11))


@pytest.mark.parametrize("name", sorted(PLAYERS))
@settings(max_examples=5)
@given(batch_size=st.integers(1, 400), start=st.integers(0, 299))
def test_the_batch_size_changes_no_match(name, batch_size, start):
    chunk = range(start, min(start + 3 * batch_size, 300))
    parts = play_matches(GAME, PLAYERS[name], chunk, key=11, batch_size=batch_size)
    assert outcome(parts) == whole(name)[chunk.start : chunk.stop]


def test_each_player_is_asked_in_its_own_seat_only():
    first, second = Asked(), Asked()
    (record,) = play_matches(GAME, (first, second), range(4), 0)
    # Taking the lowest square in turn, X completes 2 4 6 in the seventh ply.
    # X O X
    # O X O
    # X . .
    assert record.action_sequences().tolist() == [[0, 1, 2, 3, 4, 5, 6]] * 4
    assert first.asked == [(ply, [0, 2] if ply % 2 == 0 else [1, 3], [ply % 2] * 2) for ply in range(7)]
    assert second.asked == [(ply, [1, 3] if ply % 2 == 0 else [0, 2], [ply % 2] * 2) for ply in range(7)]
    # The first of the two players wins where it moves first.
    assert record.returns().tolist() == [1, -1, 1, -1]


def test_a_record_holds_every_ply():
    (record,) = play_matches(GAME, (RANDOM, RANDOM), range(500), 1)
    assert len(record.states) == len(record.actions) + 1
    assert torch.equal(record.states[0].position, GAME.init(500).position)
    assert record.states[-1].terminated.all()
    assert not record.states[-2].terminated.all()
    for state, action, following in zip(record.states, record.actions, record.states[1:], strict=False):
        assert torch.equal(action == MATCH_OVER, state.terminated)
        expected = GAME.step(state, action)
        assert all(torch.equal(a, b) for a, b in zip(following, expected, strict=True))


def test_random_matches_of_tictactoe_have_the_known_results():
    # Of random matches the first player wins 0.58492, the second 0.28810, and 0.12698 are drawn.
    (record,) = play_matches(GAME, (RANDOM, RANDOM), range(40_000), 4, alternate=False, batch_size=40_000)
    returns = record.returns()
    for result, probability in ((1, 737 / 1260), (-1, 121 / 420), (0, 8 / 63)):
        deviation = (probability * (1 - probability) / 40_000) ** 0.5
        assert abs((returns == result).double().mean().item() - probability) < 5 * deviation


def test_consecutive_matches_share_their_opening():
    game = make_game("othello")
    random_player, lowest = RandomPlayer(game), FirstLegal(game)
    (record,) = play_matches(game, (random_player, lowest), range(40), 7, opening_plies=6, batch_size=40)
    sequences = record.action_sequences()
    assert torch.equal(sequences[0::2, :6], sequences[1::2, :6])
    assert not torch.equal(sequences[0::2, 6:20], sequences[1::2, 6:20])
    assert len({tuple(opening) for opening in sequences[:, :6].tolist()}) == 20
    assert record.seats.tolist() == [0, 1] * 20
