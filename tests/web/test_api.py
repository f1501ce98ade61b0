"""The server's answers: matches from beginning to end, who there is to play against, and what is refused, and how."""

import os
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from selfplay.games import GAMES
from selfplay.web.app import create_app
from selfplay.web.desk import Desk
from selfplay.web.guard import LARGEST_BODY
from tests.web.conftest import Clock, client_of, web_settings

Json = dict[str, Any]


def begin(client: TestClient, game: str = "tictactoe", opponent: str = "level-3", person: str = "first") -> Json:
    answer = client.post("/api/matches", json={"game": game, "opponent": opponent, "person": person})
    assert answer.status_code == 201, answer.text
    return answer.json()


def post(client: TestClient, match: Json, what: str, **body: object) -> Json:
    answer = client.post(f"/api/matches/{match['id']}/{what}", json=body or None)
    assert answer.status_code == 200, answer.text
    return answer.json()


def act(client: TestClient, match: Json, action: int) -> Json:
    return post(client, match, "actions", action=action, ply=len(match["plies"]))


def play_out(client: TestClient, match: Json, choice: int = 0) -> Json:
    """The person takes the legal action of that number each time, or the last one."""
    while not match["is_over"]:
        if match["awaits_person"]:
            match = act(client, match, match["legal"][: choice + 1][-1]["action"])
        else:
            match = post(client, match, "reply")
    return match


# ---------------------------------------------------------------------- a match


def test_a_match_against_a_level_shows_its_values_and_its_replies(client: TestClient) -> None:
    match = begin(client)
    assert (match["awaits_person"], match["person_seat"], match["adviser"]) == (True, 0, "Level 3")
    assert [(legal["square"], legal["pointed"]) for legal in match["legal"]] == [(i, [i]) for i in range(9)]
    assert all(-2 < legal["value"] < 2 for legal in match["legal"])
    expected = match["legal"][4]["value"]
    match = act(client, match, 4)
    assert (match["awaits_person"], match["legal"], match["squares"][4]) == (False, [], 1)
    assert (match["plies"][0]["by_person"], match["plies"][0]["value"]) == (True, expected)
    match = post(client, match, "reply")
    reply = match["plies"][1]
    assert (reply["seat"], reply["by_person"], match["squares"][reply["square"]]) == (1, False, -1)
    assert reply["value"] is not None
    match = play_out(client, match)
    assert match["result"] in ("You win.", "You lose.", "A draw.")
    assert "A draw" in match["result"] or match["winner"] in (0, 1)
    assert client.get(f"/api/matches/{match['id']}").json() == match


@pytest.mark.parametrize("opponent", ["random", "level-1", "table-backward_value", "memory-experience", "perfect"])
def test_every_kind_of_opponent_plays_to_the_end(client: TestClient, opponent: str) -> None:
    match = play_out(client, begin(client, opponent=opponent, person="second"))
    assert (match["is_over"], match["opponent"]["id"], match["person_seat"]) == (True, opponent, 1)


@pytest.mark.parametrize("game", ["tictactoe", "othello_4x4"])
def test_every_game_is_played_by_a_search(client: TestClient, game: str) -> None:
    match = play_out(client, begin(client, game, "search-2"))
    assert match["is_over"]
    assert all(ply["value"] is not None for ply in match["plies"] if not ply["is_forced"])


def test_othello_counts_discs_and_says_which_were_turned_and_who_passed(client: TestClient) -> None:
    match = begin(client, "othello_4x4", "greedy")
    assert (match["counts"], match["seat_names"]) == ([2, 2], ["black", "white"])
    after = act(client, match, match["legal"][0]["action"])
    turned = after["plies"][0]["turned"]
    assert (after["counts"], len(turned)) == ([4, 1], 1)
    assert (match["squares"][turned[0]], after["squares"][turned[0]]) == (-1, 1)
    match = play_out(client, begin(client, "othello_4x4", "greedy", "second"), choice=1)
    passes = [ply for ply in match["plies"] if ply["text"] == "pass"]
    assert [ply["by_person"] for ply in passes] == [True, False]
    assert all(ply["is_forced"] and ply["square"] is None and ply["turned"] == [] for ply in passes)


def test_a_column_is_pointed_at_anywhere_and_its_stone_falls(client: TestClient) -> None:
    match = begin(client, "connect_four", "search-2")
    assert [legal["square"] for legal in match["legal"]] == list(range(35, 42))
    assert match["legal"][3]["pointed"] == [3, 10, 17, 24, 31, 38]
    match = act(client, match, 3)
    assert (match["plies"][0]["square"], match["squares"][38]) == (38, 1)
    match = post(client, match, "reply")
    assert match["squares"][match["plies"][1]["square"]] == -1
    assert match["legal"][3]["square"] == 31


def test_a_game_without_a_board_says_where_it_stands(client: TestClient) -> None:
    match = begin(client, "sumto100", "perfect")
    assert (match["place"], match["squares"], len(match["legal"])) == (0, None, 10)
    match = post(client, act(client, match, 6), "reply")
    assert [ply["place"] for ply in match["plies"]] == [7, match["place"]]
    assert match["place"] == 12  # perfect play leaves the opponent at 1, 12, 23, ...


def test_undo_takes_back_the_action_and_the_reply_and_the_reply_comes_again(client: TestClient) -> None:
    begun = begin(client)
    once = post(client, act(client, begun, 0), "reply")
    back = post(client, once, "undo")
    assert back == begun
    assert post(client, act(client, back, 0), "reply") == once
    refused = client.post(f"/api/matches/{begin(client)['id']}/undo")
    assert (refused.status_code, refused.json()) == (409, {"error": "there is no action of yours to take back"})


def test_another_level_takes_over_where_the_match_stands(client: TestClient) -> None:
    match = post(client, act(client, begin(client, opponent="level-1"), 0), "reply")
    answer = client.put(f"/api/matches/{match['id']}/opponent", json={"opponent": "level-3"})
    other = answer.json()
    assert (other["squares"], other["opponent"]["id"], other["adviser"]) == (match["squares"], "level-3", "Level 3")
    assert [legal["value"] for legal in other["legal"]] != [legal["value"] for legal in match["legal"]]
    # What was played before is valued anew by the new one; a search is not asked for so much.
    assert None not in [ply["value"] for ply in other["plies"]]
    searched = client.put(f"/api/matches/{match['id']}/opponent", json={"opponent": "search-2"}).json()
    assert [ply["value"] for ply in searched["plies"]] == [None, None]
    assert play_out(client, searched)["is_over"]


def test_the_next_match_counts_on_and_the_other_may_start(client: TestClient) -> None:
    match = play_out(client, begin(client, opponent="random"))
    assert match["standing"].startswith("match 1: ")
    second = post(client, match, "next", person="second")
    assert (second["match"], second["person_seat"], second["plies"]) == (1, 1, [])
    assert play_out(client, second)["standing"].startswith("match 2: ")


def test_hints_and_perfect_values(client: TestClient) -> None:
    match = begin(client)
    hint = client.get(f"/api/matches/{match['id']}/hint").json()
    assert hint["source"] == "Level 3"
    assert hint["value"] == max(legal["value"] for legal in match["legal"])
    assert client.get(f"/api/matches/{match['id']}/perfect").json() == {"values": [0.0] * 9}
    without = begin(client, opponent="random")
    assert without["adviser"] is None
    assert client.get(f"/api/matches/{without['id']}/hint").json()["source"] == "perfect"
    assert client.get(f"/api/matches/{begin(client, 'othello', 'random')['id']}/hint").status_code == 409


def test_a_machine_learns_from_a_finished_match_once(client: TestClient) -> None:
    match = play_out(client, begin(client, opponent="memory-experience"))
    assert "from 1 matches" in match["standing"]
    back = post(client, match, "undo")
    again = play_out(client, back)
    assert (again["is_practice"], "from 1 matches" in again["standing"]) == (True, True)
    # A match begun later goes on with the numbers that come next.
    assert begin(client, opponent="memory-experience")["match"] == 1


def test_a_match_depends_on_its_id_and_the_seed_alone(run_dir: Path) -> None:
    def play(seed: int) -> list[Json]:
        names = iter(["same", "other"])
        desk = Desk(web_settings(run_dir, seed=seed), new_name=lambda: next(names))
        client = client_of(create_app(desk))
        return [play_out(client, begin(client, opponent="random", person="second"))["plies"] for _ in range(2)]

    one, again, otherwise = play(0), play(0), play(1)
    assert one == again
    assert one[0] != one[1]
    assert one != otherwise


# ---------------------------------------------------------------------- who is there


def test_opponents_come_from_the_run_and_missing_ones_are_named(client: TestClient, run_dir: Path) -> None:
    offer = client.get("/api/games/tictactoe/opponents").json()
    ids = [one["id"] for one in offer["opponents"]]
    levels, searches = ["level-1", "level-2", "level-3"], [f"search-{depth}" for depth in range(1, 5)]
    assert ids == ["random", *levels, "table-backward_value", "memory-experience", *searches, "perfect"]
    assert offer["notes"] == []
    for level in range(1, 4):
        (run_dir / f"level_{level:02d}" / "agent.safetensors").unlink()
    notes = client.get("/api/games/tictactoe/opponents").json()["notes"]
    assert notes == [f"{run_dir} has no trained level yet; ./learn_tictactoe.sh makes some."]
    assert [one["id"] for one in client.get("/api/games/othello/opponents").json()["opponents"]][-1] == "greedy"


def test_a_missing_level_a_broken_file_and_an_unknown_game_are_said_plainly(client: TestClient, run_dir: Path) -> None:
    def refused(game: str, opponent: str) -> tuple[int, str]:
        answer = client.post("/api/matches", json={"game": game, "opponent": opponent})
        return answer.status_code, answer.json()["error"]

    code, sentence = refused("tictactoe", "level-9")
    assert code == 404
    assert "there are random, level-1, level-2, level-3, table" in sentence
    assert refused("chess", "random") == (404, f"there is no game of that name; there are {', '.join(GAMES)}")
    agent = run_dir / "level_02" / "agent.safetensors"
    agent.write_bytes(b"broken")
    code, sentence = refused("tictactoe", "level-2")
    assert code == 409
    assert str(agent) in sentence


@pytest.mark.parametrize("name", ["../level-1", "level-../../x", "tabular:/etc/passwd", "/etc/passwd", "level-01"])
def test_what_is_not_on_the_list_is_no_player(client: TestClient, name: str) -> None:
    assert client.post("/api/matches", json={"game": "tictactoe", "opponent": name}).status_code == 404


def test_a_level_that_was_trained_again_is_another_player(client: TestClient, run_dir: Path) -> None:
    before = begin(client, opponent="level-2")["legal"]
    (run_dir / "level_02" / "agent.safetensors").write_bytes((run_dir / "level_03/agent.safetensors").read_bytes())
    after = begin(client, opponent="level-2")["legal"]
    assert after != before
    assert after == begin(client, opponent="level-3")["legal"]


def test_what_is_proved_is_said(client: TestClient) -> None:
    def proof(game: str, opponent: str) -> Json:
        return client.get(f"/api/games/{game}/proof", params={"opponent": opponent}).json()

    perfect = proof("tictactoe", "perfect")
    assert perfect["is_unbeatable"] is True
    assert perfect["text"].startswith("Perfect play cannot lose: all ")
    assert proof("tictactoe", "random")["is_unbeatable"] is False
    assert "131184/255168 moving second" in proof("tictactoe", "random")["text"]
    assert proof("tictactoe", "search-1")["is_unbeatable"] is False
    assert "Moving second, every player loses" in proof("sumto100", "perfect")["text"]
    othello = {"is_unbeatable": None, "text": "Othello has too many positions to try every line while you wait."}
    assert proof("othello", "search-1") == othello


def test_of_a_larger_game_the_runs_own_comparison_is_quoted(
    client: TestClient, run_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("selfplay.web.proof.GRADED_AT_ONCE", 10)
    asked = ("/api/games/tictactoe/proof", {"opponent": "level-3"})
    said = client.get(asked[0], params=asked[1]).json()["text"]
    row = client.get("/api/games/tictactoe/story").json()["comparison"][3]["exact"]
    assert said.startswith(f"Level 3 lost {row['losing_lines_first']} lines moving first and")
    # A level that was trained after the comparison is another one.
    os.utime(run_dir / "level_03" / "agent.safetensors", (2**33, 2**33))
    assert client.get(asked[0], params=asked[1]).json()["is_unbeatable"] is None


# ---------------------------------------------------------------------- what is refused


def test_what_is_illegal_out_of_turn_or_out_of_date_is_refused_with_the_reason(client: TestClient) -> None:
    match = begin(client)
    address = f"/api/matches/{match['id']}/actions"
    out_of_range = client.post(address, json={"action": 9, "ply": 0})
    assert out_of_range.status_code == 409
    assert "action 9 is not legal here" in out_of_range.json()["error"]
    stale = client.post(address, json={"action": 1, "ply": 3})
    assert (stale.status_code, stale.json()["error"]) == (409, "this match has 0 plies, not 3; look at it again")
    act(client, match, 4)
    early = client.post(address, json={"action": 0, "ply": 1})
    assert (early.status_code, early.json()["error"]) == (409, "it is not a person's turn")
    assert client.get(f"/api/matches/{match['id']}").json()["plies"][0]["action"] == 4


def test_a_body_that_is_none_is_refused_in_a_sentence(client: TestClient) -> None:
    def refused(**options: Any) -> tuple[int, str]:
        answer = client.post("/api/matches", headers={"Content-Type": "application/json"}, **options)
        return answer.status_code, answer.json()["error"]

    assert refused(content=b"{") == (422, "the body is no JSON")
    assert refused(json={"game": "tictactoe"}) == (422, "opponent: Field required")
    extra = {"game": "tictactoe", "opponent": "random", "run_dir": "/tmp"}
    assert refused(json=extra) == (422, "run_dir: Extra inputs are not permitted")
    assert refused(json=extra | {"person": "third"})[0] == 422
    assert refused(content=b" " * (LARGEST_BODY + 1)) == (413, f"a body has at most {LARGEST_BODY} bytes")
    match = begin(client)
    wrong = client.post(f"/api/matches/{match['id']}/actions", json={"action": "4", "ply": 0})
    assert (wrong.status_code, wrong.json()["error"]) == (422, "action: Input should be a valid integer")


def test_unknown_addresses_and_matches_are_not_found_and_lead_nowhere(client: TestClient) -> None:
    assert client.get("/api/matches/nothing").json()["error"].startswith("there is no such match")
    for address in ("/page/../settings.py", "/page/%2e%2e/settings.py", "/page//etc/passwd", "/page/settings.py", "/x"):
        answer = client.get(address)
        assert (answer.status_code, answer.json()) == (404, {"error": "there is nothing at this address"})


def test_one_match_too_many_has_to_wait_and_the_forgotten_make_room(run_dir: Path, clock: Clock) -> None:
    desk = Desk(web_settings(run_dir, match_limit=2, match_minutes=1), clock)
    client = client_of(create_app(desk))
    first, _ = begin(client), begin(client)
    clock.now += 20
    refused = client.post("/api/matches", json={"game": "tictactoe", "opponent": "random"})
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "40")
    assert "2 matches are open" in refused.json()["error"]
    clock.now += 40
    begin(client)
    assert client.get(f"/api/matches/{first['id']}").status_code == 404
    assert len(desk.matches) == 1


def test_a_match_that_is_left_makes_room(client: TestClient, desk: Desk) -> None:
    match = begin(client)
    assert client.delete(f"/api/matches/{match['id']}").status_code == 204
    assert client.delete(f"/api/matches/{match['id']}").status_code == 404
    assert len(desk.matches) == 0


def test_another_sites_page_cannot_reach_the_server(client: TestClient) -> None:
    assert client.get("/", headers={"Host": "elsewhere.example"}).status_code == 400
    assert client.get("/", headers={"Host": "localhost:8000"}).status_code == 200
    assert "default-src 'self'" in client.get("/").headers["Content-Security-Policy"]
