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
    match = begin(client, "connect_four", "random")
    asked = f"/api/matches/{match['id']}"
    shown = client.get(f"{asked}/perfect?seconds=60").json()
    # search_seconds is the longest wait, so ask until the answer is complete.
    while not shown["is_complete"]:
        shown = client.get(f"{asked}/perfect?seconds=60").json()
    assert (shown["kind"], shown["values"]) == ("scores", [-2, -1, 0, 1, 0, -1, -2])
    assert shown["words"][2:5] == ["draws", "wins in 21", "draws"]
    hint = client.get(f"{asked}/hint").json()
    assert (hint["text"], hint["words"], hint["source"]) == ("column 4", "wins in 21", "perfect")
    assert client.get(f"{asked}/perfect?seconds=61").status_code == 422


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
    shown = client.get(f"/api/matches/{other['id']}/perfect?seconds=0.05").json()
    assert (shown["is_complete"], shown["values"]) == (False, [-4, *[None] * 6])
    assert (shown["words"][0], shown["words"][1]) == ("loses in 17", None)
    refused = client.get(f"/api/matches/{other['id']}/hint")
    assert (refused.status_code, "still being solved" in refused.json()["error"]) == (409, True)
    assert play_out(client, begin(client, "tictactoe", "random"))["is_over"]
    solvable.set()
    while len(match["plies"]) < 2:
        match = post(client, match, "reply")
    shown = {"is_complete": False}
    while not shown["is_complete"]:
        shown = client.get(f"{asked}/perfect?seconds=5").json()
    assert None not in shown["values"]


TWELVE_LEFT = "c4c5f6c3b5g7e3e6c2f3g3a5h8b3f4f2b4f5f7h3a3d2e2e1a6e7d7c1c6g8f1g4d1b6b1d3g6b7f8a7c7h6a8b2g5g2a1d6"
"""A match of Othello up to a position with twelve empty squares."""


def test_the_end_of_a_large_game_is_valued_exactly_whoever_plays(client: TestClient) -> None:
    wanted = {"game": "othello", "opponent": "random", "moves": TWELVE_LEFT}
    match = client.post("/api/matches", json=wanted).json()
    asked, last = f"/api/matches/{match['id']}", len(match["plies"])
    # The two plies before have 13 and 14 empty squares. The solver may have to be compiled before it values actions.
    for ply in (last - 2, last - 1, last):
        while (match := client.get(f"{asked}/positions/{ply}").json())["legal"][0]["value"] is None:
            time.sleep(0.05)
    assert match["values_are_points"]
    assert all(one["words"] for one in match["legal"])
    # Earlier in the match the random player values nothing.
    assert [ply["words"] is None for ply in match["plies"]] == [True] * (last - 2) + [False] * 2
    best = max(match["legal"], key=lambda one: one["value"])
    line = client.get(f"{asked}/line").json()
    assert (line["source"], line["moves"][0]) == ("Perfect play", best["text"])
    over = play_out(client, client.get(asked).json())
    # Values of the last plies may still be computed.
    while not all(ply["words"] or ply["is_forced"] for ply in over["plies"][last - 2 :]):
        time.sleep(0.05)
        over = client.get(asked).json()
    assert sum(ply["grade"] is not None for ply in over["plies"][last:]) > 0
