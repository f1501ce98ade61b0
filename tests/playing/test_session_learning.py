"""A session: counting results, players that learn, and changing players."""

import numpy as np
import pytest

from selfplay.errors import RunLockedError
from selfplay.games import Game
from selfplay.games.state import MatchRecord
from selfplay.settings.fields import PERSON
from tests.support.session_play import GAME, play_on, session_with
from tests.support.stub_players import FirstLegal, Learning, Valuing

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
    assert (session.results.matches, session.legal_actions) == (0, (3, 5, 6, 7, 8))
    assert session.play(8).action == 8
    assert (session.is_over, session.results.matches, len(learner.seen)) == (True, 1, 1)
    session.undo()
    assert session.is_practice


# ---------------------------------------------------------------------- another player takes over


def test_another_player_takes_over_in_the_position_at_hand() -> None:
    session = session_with(FirstLegal(GAME))
    play_on(session, 4)
    assert session.estimate() is None
    session.take_over(1, Valuing(GAME))
    assert (session.names, [ply.action for ply in session.plies]) == ((PERSON, "valuing"), [4, 0])
    values, before = session.estimate().values, session.estimate(0).values
    assert values[8] == before[8] == np.float32(0.08)
    session.play(1)
    assert session.advance().action == 8
    # The results of the one before are not the new one's.
    play_on(session, 7)
    assert session.results.matches == 1
    session.take_over(0, FirstLegal(GAME))
    assert (session.results.matches, session.names[0]) == (0, "first legal")
