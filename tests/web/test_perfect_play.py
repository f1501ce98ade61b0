"""The API: exact scores of Connect Four, and positions that take long to solve."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from selfplay.errors import TimeLimitError
from selfplay.games import State
from selfplay.search.connect_four.solver import ConnectFourSolver
from tests.web.match_requests import act, begin, play_out, post


@pytest.fixture
def solvable(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Until it is set, positions with stones are not solved, except for their first action."""
    made, action_values = threading.Event(), ConnectFourSolver.action_values

    def held(solver: ConnectFourSolver, state: State, **options: Any) -> Any:
        if int(state.own) | int(state.opp) and not made.wait(0.01):
            options["on_value"](0, -4)
            raise TimeLimitError("held")
        return action_values(solver, state, **options)

    monkeypatch.setattr(ConnectFourSolver, "action_values", held)
    monkeypatch.setattr("selfplay.players.perfect._perfect_players", {})
    yield made
    made.set()


def test_connect_four_shows_scores_and_the_moves_to_the_win(client: TestClient) -> None:
    offer = client.get("/api/games/connect_four/opponents").json()
    perfect = next(one for one in offer["opponents"] if one["id"] == "perfect")
    assert (offer["has_perfect_play"], perfect["span"], perfect["is_slow"]) == (True, None, True)
    match = begin(client, "connect_four", "easy")
    asked = f"/api/matches/{match['id']}"
    shown = client.get(f"{asked}/judged?seconds=60").json()
    # search_seconds is the longest wait, so ask until the answer is complete.
    while not shown["is_complete"]:
        shown = client.get(f"{asked}/judged?seconds=60").json()
    assert (shown["kind"], shown["values"]) == ("scores", [-2, -1, 0, 1, 0, -1, -2])
    assert shown["words"][2:5] == ["draws", "wins in 21", "draws"]
    # The opponent, which looks one ply ahead, sees no difference between the columns.
    hint = client.get(f"{asked}/hint").json()
    assert (hint["text"], hint["words"], hint["source"]) == ("column 4", "wins in 21", "Perfect play")
    assert (hint["action"], hint["square"], hint["line"][0]) == (3, 38, "4")
    assert client.get(f"{asked}/judged?seconds=61").status_code == 422


def test_a_position_that_takes_long_blocks_nobody_and_is_completed_later(
    client: TestClient, solvable: threading.Event
) -> None:
    match = act(client, begin(client, "connect_four", "perfect"), 6)
    asked = f"/api/matches/{match['id']}"
    # The opponent plays nothing rather than something imperfect.
    match = post(client, match, "reply")
    assert (len(match["plies"]), match["awaits_person"]) == (1, False)
    other = begin(client, "connect_four", "random", "second")
    other = post(client, other, "reply")
    shown = client.get(f"/api/matches/{other['id']}/judged?seconds=0.05").json()
    assert (shown["is_complete"], shown["values"]) == (False, [-4, *[None] * 6])
    assert (shown["words"][0], shown["words"][1]) == ("loses in 17", None)
    # A hint does not wait longer than a reply.
    hint = client.get(f"/api/matches/{other['id']}/hint").json()
    assert (hint["source"], hint["words"]) == ("Pretrained, 5 plies", None)
    assert play_out(client, begin(client, "tictactoe", "random"))["is_over"]
    solvable.set()
    while len(match["plies"]) < 2:
        match = post(client, match, "reply")
    shown = {"is_complete": False}
    while not shown["is_complete"]:
        shown = client.get(f"{asked}/judged?seconds=5").json()
    assert None not in shown["values"]


TWELVE_LEFT = "c4c5f6c3b5g7e3e6c2f3g3a5h8b3f4f2b4f5f7h3a3d2e2e1a6e7d7c1c6g8f1g4d1b6b1d3g6b7f8a7c7h6a8b2g5g2a1d6"
"""A match of Othello up to a position with twelve empty squares."""


def test_the_end_of_a_large_game_is_valued_exactly_whoever_plays(client: TestClient) -> None:
    wanted = {"game": "othello", "opponent": "random", "moves": TWELVE_LEFT}
    match = client.post("/api/matches", json=wanted).json()
    asked, last = f"/api/matches/{match['id']}", len(match["plies"])
    # The two plies before have 13 and 14 empty squares. The solver may have to be compiled before it values actions.
    for ply in (last - 2, last - 1, last):
        while (match := client.get(f"{asked}/positions/{ply}").json())["legal"][0]["words"] is None:
            time.sleep(0.05)
    assert match["values_are_points"]
    assert all(one["words"] for one in match["legal"])
    # Earlier in the match there are estimates only.
    assert [ply["words"] is None for ply in match["plies"]] == [True] * (last - 2) + [False] * 2
    best = max(match["legal"], key=lambda one: one["value"])
    hint = client.get(f"{asked}/hint").json()
    assert (hint["source"], hint["line"][0], hint["words"]) == ("Perfect play", best["text"], best["words"])
    over = play_out(client, client.get(asked).json())
    # Values of the last plies may still be computed.
    while not all(ply["words"] or ply["is_forced"] for ply in over["plies"][last - 2 :]):
        time.sleep(0.05)
        over = client.get(asked).json()
    assert sum(ply["grade"] is not None for ply in over["plies"][last:]) > 0


def test_the_review_of_othello_is_in_discs_over_the_whole_match_whoever_plays(client: TestClient) -> None:
    wanted = {"game": "othello", "opponent": "easy", "moves": TWELVE_LEFT}
    match = client.post("/api/matches", json=wanted).json()
    asked, last = f"/api/matches/{match['id']}/judged", len(match["plies"])
    judged = [client.get(f"{asked}?ply={ply}").json() for ply in range(last - 3)]
    assert {(one["kind"], one["is_exact"], one["source"], one["is_complete"]) for one in judged} == {
        ("points", False, "Pretrained, 5 plies", True)
    }
    assert all(-64 <= value <= 64 for one in judged for value in one["values"])
    assert sum(grade is not None for one in judged for grade in one["grades"]) > last
    for ply in range(last - 2, last + 1):
        while not (exact := client.get(f"{asked}?ply={ply}").json())["is_complete"]:
            time.sleep(0.05)
        assert (exact["kind"], exact["is_exact"], None in exact["words"]) == ("points", True, False)
