"""The points of games in which they are not stones: at the board, in results and for opponents."""

import pytest

from selfplay.games import make_game
from selfplay.games.match import Match
from selfplay.named_players.strengths import strengths
from selfplay.players.player import ActionValues
from selfplay.playing.match_description import describe
from selfplay.playing.result_text import Result
from selfplay.playing.session import Session
from tests.support.dots import Dots, LeadOnly
from tests.support.stub_players import Valuing

OPEN, REST = "c2 b5 e4 a2 a4 d3 b3 d5 b1", "e2 c4 d1"


def session_after(game, moves):
    session = Session(game, (None, None), 0)
    session.resume(Match(game).play_all(game.read_transcript(moves)))
    return session


@pytest.mark.parametrize(
    ("kind", "points", "caption", "result"),
    [
        (Dots, [1.0, 0.0], "first (X) 1, second (O) 0; E edges; again 1", "Second wins. Boxes: first 1, second 3."),
        (LeadOnly, None, "first leads by 1; E edges; again 1", "Second wins. The lead in boxes is 2."),
    ],
)
def test_boxes_are_counted_and_not_edges(kind, points, caption, result):
    game = kind()
    session = session_after(game, OPEN)
    shown = describe(session)
    assert (shown.points, shown.lead) == (points, 1.0)
    assert shown.board.splitlines()[-1] == game.presentation.caption(session.match.state) == caption
    assert session_after(game, f"{OPEN} {REST}").result_text == result


def test_go_shows_who_leads_the_crossing_of_ko_and_how_passes_end_the_match():
    session = session_after(make_game("go", 3), "C1 A1 C3 B1 B2 C2")
    shown = describe(session)
    assert (shown.lead, shown.points, shown.ko) == (-9.5, None, 8)
    result = Result(winner=1, points=(2.0, 11.5), lead=-9.5, komi=7.5)
    ends = {one.text: (one.end, one.ends_at_once) for one in shown.legal}
    assert ends.pop("pass") == (result, False)
    assert set(ends.values()) == {(None, False)}
    session.play(9)
    shown = describe(session)
    assert (shown.ko, shown.legal[-1].end, shown.legal[-1].ends_at_once) == (None, result, True)
    session.play(9)
    assert describe(session).result == result
    assert session.result_text == "White wins. Points: black 2, white 11.5, with komi 7.5."


def test_only_where_discs_are_a_feature_do_opponents_value_them():
    assert "evaluation=none" in strengths(make_game("tests.support.dots:Dots"))["easy"].player
    assert "evaluation=boxes" in strengths(make_game("dots_and_boxes"))["easy"].player


class Counting(Valuing):
    """Predicts ten points per value."""

    def value_actions(self, state, draws=None):
        return ActionValues(self.action_values(state), points_per_value=10.0)


@pytest.mark.parametrize("player", [Counting, Valuing])
def test_values_in_points_are_marked_as_such_at_the_plies_that_have_values(player):
    game = make_game("othello")
    session = Session(game, (player(game), None), 0)
    session.estimate()
    session.advance()
    session.play(session.match.legal_actions()[0])
    session.estimate()
    shown, in_points = describe(session), player is Counting
    action = game.string_to_action(shown.plies[0].text)
    assert shown.plies[0].value == pytest.approx(action / 100 * (10 if in_points else 1))
    assert [ply.in_points for ply in shown.plies] == [in_points, False]
