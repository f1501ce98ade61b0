"""The API: matches from beginning to end."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from selfplay.games import make_game
from selfplay.web.app import create_app
from selfplay.web.matches import MatchService
from tests.web.conftest import client_of, web_settings
from tests.web.match_requests import Json, act, begin, play_out, post


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


@pytest.mark.parametrize("opponent", ["random", "level-1", "tabular:backward_value", "memory-experience", "perfect"])
def test_a_match_against_each_kind_of_opponent_is_played_to_the_end(client: TestClient, opponent: str) -> None:
    match = play_out(client, begin(client, opponent=opponent, person="second"))
    assert (match["is_over"], match["opponent"]["id"], match["person_seat"]) == (True, opponent, 1)


def test_othello_shows_disc_counts_turned_discs_and_passes(client: TestClient) -> None:
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


def test_any_square_selects_its_column_and_the_stone_falls(client: TestClient) -> None:
    match = begin(client, "connect_four", "random", "both")
    assert [legal["square"] for legal in match["legal"]] == list(range(35, 42))
    assert match["legal"][3]["pointed"] == [3, 10, 17, 24, 31, 38]
    match = act(client, match, 3)
    assert (match["plies"][0]["square"], match["squares"][38]) == (38, 1)
    match = act(client, match, 0)
    assert (match["squares"][35], match["legal"][3]["square"]) == (-1, 31)


def test_a_game_without_a_board_shows_its_number(client: TestClient) -> None:
    match = begin(client, "sumto100", "perfect")
    assert (match["place"], match["squares"], len(match["legal"])) == (0, None, 10)
    match = post(client, act(client, match, 6), "reply")
    assert [ply["place"] for ply in match["plies"]] == [7, match["place"]]
    assert match["place"] == 12  # perfect play leaves the opponent at 1, 12, 23, ...


def test_undo_takes_back_action_and_reply_and_the_same_reply_follows(client: TestClient) -> None:
    begun = begin(client)
    once = post(client, act(client, begun, 0), "reply")
    back = post(client, once, "undo")
    assert back == begun
    assert post(client, act(client, back, 0), "reply") == once
    refused = client.post(f"/api/matches/{begin(client)['id']}/undo")
    assert (refused.status_code, refused.json()) == (409, {"error": "you have not taken an action yet"})


def test_another_level_takes_over_in_the_same_position(client: TestClient) -> None:
    match = post(client, act(client, begin(client, opponent="level-1"), 0), "reply")
    answer = client.put(f"/api/matches/{match['id']}/opponent", json={"opponent": "level-3"})
    other = answer.json()
    assert (other["squares"], other["opponent"]["id"], other["adviser"]) == (match["squares"], "level-3", "Level 3")
    assert [legal["value"] for legal in other["legal"]] != [legal["value"] for legal in match["legal"]]
    # The new opponent values the earlier plies too, unless it is a search, which would take too long.
    assert None not in [ply["value"] for ply in other["plies"]]
    searched = client.put(f"/api/matches/{match['id']}/opponent", json={"opponent": "search-2"}).json()
    assert [ply["value"] for ply in searched["plies"]] == [None, None]
    assert play_out(client, searched)["is_over"]


def test_the_next_match_continues_the_count_and_the_opponent_may_start(client: TestClient) -> None:
    match = play_out(client, begin(client, opponent="random"))
    assert match["standing"].startswith("match 1: ")
    second = post(client, match, "next", person="second")
    assert (second["match"], second["person_seat"], second["plies"]) == (1, 1, [])
    assert play_out(client, second)["standing"].startswith("match 2: ")


def test_hints_and_perfect_values(client: TestClient) -> None:
    match = begin(client)
    texts = [f"{action // 3},{action % 3}" for action in range(9)]
    values = {
        "kind": "results",
        "is_exact": True,
        "source": "Perfect play",
        "actions": list(range(9)),
        "texts": texts,
        "values": [0.0] * 9,
        "words": ["draws"] * 9,
        "grades": [None] * 9,
        "is_complete": True,
    }
    assert client.get(f"/api/matches/{match['id']}/judged").json() == values
    # X has taken a corner, so everything but the centre loses, whatever the opponent expects.
    match = post(client, begin(client, opponent="level-1", person="both"), "actions", action=0, ply=0)
    hint = client.get(f"/api/matches/{match['id']}/hint").json()
    assert (hint["text"], hint["words"], hint["source"]) == ("1,1", "draws", "Perfect play")
    assert hint["line"][0] == "1,1"
    assert begin(client, opponent="random")["adviser"] is None


@pytest.mark.parametrize(("game", "judge"), [("othello", "Pretrained, 5 plies"), ("hex", "Tree search, 4,000 random ")])
def test_hints_and_values_of_a_large_game_are_those_of_the_judge(client: TestClient, game: str, judge: str) -> None:
    match = begin(client, game, "random")
    asked = f"/api/matches/{match['id']}"
    hint, judged = (client.get(f"{asked}/{what}?ply=0").json() for what in ("hint", "judged"))
    assert hint["source"] == judged["source"]
    assert hint["source"].startswith(judge)
    best = max(range(len(judged["actions"])), key=lambda one: judged["values"][one])
    assert (judged["actions"][best], judged["texts"][best]) == (hint["action"], hint["line"][0])
    assert (hint["value"], hint["words"]) == (judged["values"][best], None)
    # The random player estimates nothing, so the values on the board are those of the judge too.
    assert match["adviser"] == judged["source"]


def test_a_match_depends_only_on_its_id_and_the_seed(run_dir: Path) -> None:
    def play(seed: int) -> list[Json]:
        names = iter(["same", "other"])
        service = MatchService(web_settings(run_dir, seed=seed), new_id=lambda: next(names))
        client = client_of(create_app(service))
        return [play_out(client, begin(client, opponent="random", person="second"))["plies"] for _ in range(2)]

    one, again, otherwise = play(0), play(0), play(1)
    assert one == again
    assert one[0] != one[1]
    assert one != otherwise


def test_the_rules_of_each_game_come_with_the_last_position_of_an_example(client: TestClient) -> None:
    for view in client.get("/api/games").json():
        rules = client.get(f"/api/games/{view['name']}/rules").json()
        show = make_game(view["name"]).presentation
        assert rules["sentences"] == list(show.how_to_play)
        assert rules["caption"] == show.example_caption
        assert rules["picture"]["moves"] == show.example
        assert rules["picture"]["legal"] == []
    turned = [view["name"] for view in client.get("/api/games").json() if view["turns_for_second"]]
    assert turned == ["breakthrough"]
    assert client.get("/api/games/nine/rules").status_code == 404
