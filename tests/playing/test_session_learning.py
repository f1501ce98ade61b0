"""A session: counting results, and players that learn."""

import pytest

from selfplay.errors import RunLockedError
from selfplay.games import Game
from selfplay.games.match import Match
from selfplay.games.state import MatchRecord
from tests.support.session_play import GAME, play_on, session_with
from tests.support.stub_players import Learning

# ---------------------------------------------------------------------- counting and learning


def test_a_learner_is_shown_each_finished_match_once() -> None:
    learner = Learning(GAME)
    session = session_with(learner)
    play_on(session, 0, 4, 8)
    session.new_match(1)
    play_on(session, 8)
    # That one is given up.
    session.new_match()
    play_on(session, 3, 4)
    assert learner.seen == [(0, [0, 1, 4, 2, 8], 1.0, (1,)), (2, [0, 3, 1, 4, 2], 1.0, (0,))]
    assert session.results == ((1, 0, 1), (2, 0, 0), (0, 0))
    assert session.standing() == "match 2: X won 2 (1.000), O won 0 (0.000), drawn 0 (0.000); seen 2"


def test_after_an_end_is_taken_back_the_match_is_practice() -> None:
    learner = Learning(GAME)
    session = session_with(learner, first_player=1)
    play_on(session, 3, 4)
    assert session.result_text == "You lose."
    before = session.standing()
    assert not session.is_practice
    session.undo()
    assert session.is_practice
    for _ in range(2):
        play_on(session, 4)
        assert session.is_over
        session.undo()
    assert (len(learner.seen), session.results.matches, session.standing()) == (1, 1, before)
    session.new_match()
    assert not session.is_practice
    play_on(session, 3, 4)
    assert (len(learner.seen), session.results.matches) == (2, 2)


class LearningLater(Learning):
    """Cannot learn the first time, as if its store were held by another process."""

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.is_held = True

    def after_match(self, record: MatchRecord, seats: tuple[int, ...]) -> None:
        if self.is_held:
            self.is_held = False
            raise RunLockedError("held")
        super().after_match(record, seats)


def test_a_match_is_not_over_until_it_could_be_learned_from() -> None:
    learner = LearningLater(GAME)
    session = session_with(learner)
    play_on(session, 0, 4)
    with pytest.raises(RunLockedError):
        session.play(8)
    assert (session.is_over, session.awaits_person, len(session.plies), learner.seen) == (False, True, 4, [])
    assert (session.results.matches, session.match.legal_actions()) == (0, [3, 5, 6, 7, 8])
    assert session.play(8).action == 8
    assert (session.is_over, session.results.matches, len(learner.seen)) == (True, 1, 1)
    session.undo()
    assert session.is_practice


@pytest.mark.parametrize("counts", [False, True])
def test_a_match_that_is_played_again_counts_only_if_it_is_said_to(counts: bool) -> None:
    learner = Learning(GAME)
    session = session_with(learner)
    session.resume(Match(GAME).play_all([0, 1, 4, 2, 8]), counts=counts)
    assert (session.is_over, session.is_practice, len(learner.seen)) == (True, False, int(counts))
    set_up = Match(GAME, GAME.set_up([1, -1, *[0] * 7], 0)).play_all([4, 2, 8])
    for match, is_practice in ((Match(GAME).play_all([0, 1, 4, 2, 8]), True), (set_up, False)):
        session.resume(match, counts=counts, is_practice=is_practice)
        assert (session.is_over, session.is_practice, len(learner.seen)) == (True, True, int(counts))
