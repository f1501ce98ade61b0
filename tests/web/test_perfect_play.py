"""The API: exact scores of Connect Four, and positions that take long to solve."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from selfplay.compute.made_once import MadeOnce
from selfplay.errors import TimeLimitError
from selfplay.games import State
from selfplay.search.connect_four.solver import ConnectFourSolver
from tests.web.match_requests import Json, act, answer, described, of_each, play_out, refused, shown


@pytest.fixture
def solvable(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Until it is set, positions with stones are not solved, except for their first action."""
    made, action_values = threading.Event(), ConnectFourSolver.action_values

    def held(solver: ConnectFourSolver, state: State, **options: Any) -> Any:
        if bool(state.position.any()) and not made.wait(0.01):
            options["on_value"](0, -4)
            raise TimeLimitError("held")
        return action_values(solver, state, **options)

    monkeypatch.setattr(ConnectFourSolver, "action_values", held)
    monkeypatch.setattr("selfplay.players.perfect._perfect_players", MadeOnce(1))
    yield made
    made.set()


def test_connect_four_shows_scores_and_the_moves_to_the_win(client: TestClient) -> None:
    offer = client.get("/api/games/connect_four/opponents").json()
    perfect = next(one for one in offer["opponents"] if one["id"] == "perfect")
    assert perfect["span"] is None
    match = described("connect_four", "easy")
    found = {"is_complete": False}
    # search_seconds is the longest wait, so ask until the answer is complete.
    while not found["is_complete"]:
        found = answer(client, match, show=["judged"], seconds=60)["judged"]
    assert (found["kind"], of_each("value", found)) == ("scores", [-2, -1, 0, 1, 0, -1, -2])
    assert of_each("words", found)[2:5] == ["draws", "wins in 21", "draws"]
    # The opponent, which looks one ply ahead, sees no difference between the columns.
    hint = answer(client, match, show=["hint"])["hint"]
    assert (hint["text"], hint["words"], hint["source"]) == ("column 4", "wins in 21", "Perfect play")
    assert (hint["action"], hint["line"][0]) == (3, "4")
    assert refused(client, match, show=["judged"], seconds=61)[0] == 422


def test_a_position_that_takes_long_blocks_nobody_and_is_completed_later(
    client: TestClient, solvable: threading.Event
) -> None:
    match, view = act(client, described("connect_four", "perfect"), 6)
    # The opponent plays nothing rather than something imperfect.
    assert (len(view["plies"]), view["awaits_person"]) == (1, False)
    other, _ = act(client, described("connect_four", "random", "second"))
    found = {"legal": [{"value": None}]}
    while found["legal"][0]["value"] is None:
        found = answer(client, other, show=["judged"], seconds=0.05)["judged"]
    assert (found["is_complete"], of_each("value", found)) == (False, [-4, *[None] * 6])
    assert of_each("words", found)[:2] == ["loses in 17", None]
    # A hint does not wait longer than a reply.
    hint = answer(client, other, show=["hint"])["hint"]
    assert (hint["source"].startswith("Pretrained, 5 plies"), hint["words"]) == (True, None)
    assert play_out(client, described("tictactoe", "random"))[1]["is_over"]
    solvable.set()
    while len(view["plies"]) < 2:
        view = shown(client, match)
    found = {"is_complete": False}
    while not found["is_complete"]:
        found = answer(client, match, show=["judged"], seconds=5)["judged"]
    assert None not in of_each("value", found)


TWELVE_LEFT = "c4c5f6c3b5g7e3e6c2f3g3a5h8b3f4f2b4f5f7h3a3d2e2e1a6e7d7c1c6g8f1g4d1b6b1d3g6b7f8a7c7h6a8b2g5g2a1d6"
"""A match of Othello up to a position with twelve empty squares."""


def test_the_end_of_a_large_game_is_valued_exactly_whoever_plays(client: TestClient) -> None:
    match = described("othello", "random", moves=TWELVE_LEFT)
    last = len(shown(client, match)["plies"])
    # The two plies before have 13 and 14 empty squares. The solver may have to be compiled before it values actions.
    for ply in (last - 2, last - 1, last):
        while (view := shown(client, match, ply=ply, valued=last - 4))["legal"][0]["words"] is None:
            time.sleep(0.05)
    assert view["values_in_points"]
    assert all(one["words"] for one in view["legal"])
    # Earlier in the match there are estimates only.
    assert [ply["words"] is None for ply in view["plies"]] == [True] * (last - 2) + [False] * 2
    best = max(view["legal"], key=lambda one: one["value"])
    hint = answer(client, match, show=["hint"])["hint"]
    assert (hint["source"], hint["line"][0], hint["words"]) == ("Perfect play", best["text"], best["words"])
    match, over = play_out(client, match)
    # Values of the last plies may still be computed.
    while not all(ply["words"] or ply["is_forced"] for ply in over["plies"][last - 2 :]):
        time.sleep(0.05)
        over = shown(client, match, valued=last - 2)
    assert any(ply["value"] < ply["best"]["value"] for ply in over["plies"][last:] if not ply["is_forced"])


@pytest.mark.slow
def test_the_review_of_othello_is_in_discs_over_the_whole_match_whoever_plays(client: TestClient) -> None:
    match = described("othello", "greedy", moves=TWELVE_LEFT)
    last = len(shown(client, match)["plies"])

    def judged(ply: int) -> Json:
        found: Json = answer(client, match, show=["judged"], ply=ply)["judged"]
        return found

    before = [judged(ply) for ply in range(last - 3)]
    assert {(one["kind"], one["is_exact"], one["source"], one["is_complete"]) for one in before} == {
        ("points", False, "Pretrained, 5 plies", True)
    }
    assert all(-64 <= value <= 64 for one in before for value in of_each("value", one))
    for ply in range(last - 2, last + 1):
        while not (exact := judged(ply))["is_complete"]:
            time.sleep(0.05)
        assert (exact["kind"], exact["is_exact"], None in of_each("words", exact)) == ("points", True, False)


def test_a_short_game_is_solved_in_the_background_while_a_person_looks_at_a_position(client: TestClient) -> None:
    match = described("hex_5x5", "random", "both", moves="e2 a2 c5 e1 e5 d3")
    found = {"is_exact": False}
    while not found["is_exact"]:
        time.sleep(0.05)
        # Until then the values are estimates, and complete.
        found = answer(client, match, show=["judged"], values_all=True)["judged"]
        assert found["is_complete"]
    assert (found["kind"], found["source"]) == ("results", "Perfect play")
    assert {one["text"]: one["words"] for one in found["legal"] if one["words"] != "loses"} == {"d2": "wins"}
    hint = answer(client, match, show=["hint"])["hint"]
    assert (hint["text"], hint["words"], hint["source"]) == ("d2", "wins", "Perfect play")
