"""Who plays in a match: the players of the session, and who holds which seat."""

import pytest

from selfplay.games import make_game
from selfplay.players.random import RandomPlayer
from selfplay.web.participants import Participant, Participants
from selfplay.web.people import People
from selfplay.web.schemas import OpponentView

GAME = make_game("tictactoe")


def participant(name: str, **view: bool) -> Participant:
    return Participant(OpponentView(id=name, kind="random", label=name, about="", **view), RandomPlayer(GAME))


@pytest.mark.parametrize(
    ("people", "first_player", "seats"),
    [
        ("first", 0, [None, "opponent"]),
        ("second", 1, ["opponent", None]),
        ("both", 0, [None, None]),
        ("none", 0, ["partner", "opponent"]),
    ],
)
def test_the_seats_follow_from_the_people(people: str, first_player: int, seats: list[str | None]) -> None:
    who = Participants(People(people), participant("opponent"), participant("partner"))
    assert who.first_player == first_player
    assert [view and view.id for view in who.seats] == seats
    assert [player is None for player in who.players] == [name is None for name in seats[:: -1 if first_player else 1]]
    assert who.people.only_seat == (seats.index(None) if seats.count(None) == 1 else None)


def test_the_partner_determines_the_thread_only_in_a_match_without_people() -> None:
    slow = participant("slow", is_slow=True)
    for people in People:
        busiest = Participants(people, participant("fast"), slow).busiest
        assert busiest.id == ("fast" if people.seats else "slow")
    assert Participants(People.NONE, slow).seats == [slow.view, slow.view]
