"""Series of matches between two players: learning players, limited time, copies."""

import pytest
import torch

from selfplay import play_matches
from selfplay.games import make_game
from selfplay.games.state import MatchRecord
from selfplay.games.win_draw_loss import wilson_interval
from selfplay.matches import series
from selfplay.matches.arena import play_batch
from selfplay.matches.series import Series, result_fields
from selfplay.named_players.make import make_player
from selfplay.players.player import RandomPlayer

GAME = make_game("tictactoe")


class Learner(RandomPlayer):
    """Plays at random and records the matches that it is shown."""

    name = "learner"

    def __init__(self) -> None:
        super().__init__(GAME)
        self.seen: list[tuple[int, tuple[int, ...], list[int]]] = []

    def act(self, state, draws):
        # One match at a time, and all earlier ones have been shown.
        assert draws.match.tolist() == [len(self.seen)]
        return super().act(state, draws)

    def after_match(self, record: MatchRecord, seats: tuple[int, ...]) -> None:
        self.seen.append((int(record.match), seats, record.action_sequences()[0].tolist()))

    def matches_seen(self) -> int:
        return len(self.seen)


def test_a_learner_is_shown_every_match_before_the_next_begins() -> None:
    learner = Learner()
    records = list(play_matches(GAME, (RandomPlayer(GAME), learner), range(6), 3))
    assert [number for number, _, _ in learner.seen] == list(range(6))
    assert [seats for _, seats, _ in learner.seen] == [(1,), (0,)] * 3
    assert [actions for _, _, actions in learner.seen] == [r.action_sequences()[0].tolist() for r in records]
    # The matches are those of players that do not learn.
    whole = next(play_matches(GAME, (RandomPlayer(GAME), RandomPlayer(GAME)), range(6), 3))
    assert torch.equal(torch.cat([record.returns() for record in records]), whole.returns())


@pytest.mark.parametrize(("seconds", "played"), [(10, 60), (0.5, 32), (0.001, 2)])
def test_a_pair_plays_the_first_matches_that_fit_into_its_time(
    seconds: float, played: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each match takes 1/64 s."""
    time = [0.0]

    def play(game, players, match, *others):
        time[0] += len(match) / 64
        return play_batch(game, players, match, *others)

    monkeypatch.setattr(series, "monotonic", lambda: time[0])
    monkeypatch.setattr(series, "play_batch", play)
    players = (RandomPlayer(GAME), RandomPlayer(GAME))
    limited = Series(range(60), 5, opening_plies=2, seconds=seconds).play(GAME, players)
    assert limited == Series(range(played), 5, opening_plies=2).play(GAME, players)


LOWEST, SHALLOW = "perfect?ties=lowest", "search:negascout?depth=1&evaluation=none"


def test_copies_narrow_no_interval_and_decide_no_test() -> None:
    players = make_player(LOWEST, GAME), make_player(SHALLOW, GAME)
    copied = Series(range(60), 5).play(GAME, players)
    fields = result_fields(copied)
    assert (copied.distinct, copied.results.matches, copied.evidence.matches) == (2, 60, 2)
    assert (fields["wins_rate_low"], fields["wins_rate_high"]) == wilson_interval(copied.evidence.wins, 2)
    assert fields["word"] == "not told apart"
    opened = Series(range(600), 5, opening_plies=2).play(GAME, players)
    # There are 72 openings of two plies, played from both sides.
    assert opened.evidence.matches == opened.distinct <= 144
    sampled = Series(range(600), 5).play(GAME, (RandomPlayer(GAME), players[0]))
    assert sampled.distinct < 600 == sampled.evidence.matches


def test_matches_tried_for_repeats_are_not_played_twice() -> None:
    numbers: list[int] = []

    class Counting(RandomPlayer):
        def act(self, state, draws):
            numbers.extend(draws.match.tolist() if draws.ply == 0 else ())
            return super().act(state, draws)

    player = Counting(GAME)
    Series(range(20), 3, opening_plies=None).play(GAME, (player, player))
    assert numbers == list(range(20))
