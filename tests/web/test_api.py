"""The API: matches from beginning to end."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from selfplay.games import game_names, make_game
from selfplay.web.app import create_app
from selfplay.web.match_service import MatchService
from selfplay.web.recent_estimates import RecentEstimates
from tests.support.games import with_slow_boards
from tests.web.conftest import client_of, web_settings
from tests.web.match_requests import Json, act, answer, board_of, described, of_each, play_out, played, shown


def test_a_match_against_a_level_shows_its_values_and_its_replies(client: TestClient) -> None:
    match = described()
    view = shown(client, match, valued=0)
    assert (view["awaits_person"], view["people"]) == (True, "first")
    assert [(legal["square"], legal["pointed"]) for legal in view["legal"]] == [(i, [i]) for i in range(9)]
    assert all(-2 < legal["value"] < 2 for legal in view["legal"])
    expected = view["legal"][4]["value"]
    match = played(match, view, 4)
    # The action alone, and then with the reply.
    view = shown(client, match, advance=False, valued=0)
    assert (view["awaits_person"], view["legal"], board_of(view)[4]) == (False, [], 1)
    assert (view["plies"][0]["by_person"], view["plies"][0]["value"]) == (True, expected)
    view = shown(client, match, valued=0)
    person, reply = view["plies"]
    assert (reply["seat"], reply["by_person"], [stone for _, stone in reply["changes"]]) == (1, False, [-1])
    assert (person["value"], reply["value"] is None) == (expected, False)
    match, view = play_out(client, match)
    assert view["result"]["winner"] in (None, 0, 1)
    assert (view["result"]["points"], view["result"]["lead"]) == (None, None)
    assert shown(client, match) == shown(client, match, advance=False)


@pytest.mark.parametrize("opponent", ["random", "level-1", "tabular:backward_value", "memory-experience", "perfect"])
def test_a_match_against_each_kind_of_opponent_is_played_to_the_end(client: TestClient, opponent: str) -> None:
    _, view = play_out(client, described(opponent=opponent, person="second"))
    assert (view["is_over"], view["opponent"]["id"], view["people"]) == (True, opponent, "second")


def test_othello_shows_disc_counts_turned_discs_and_passes(client: TestClient) -> None:
    match = described("othello_4x4", "greedy")
    view = shown(client, match)
    assert view["points"] == [2, 2]
    after = shown(client, played(match, view, view["legal"][0]["action"]), advance=False)
    assert (after["points"], after["plies"][0]["pointed"]) == ([4, 1], [after["plies"][0]["action"]])
    changes = {square: (view["start"][square], stone) for square, stone in after["plies"][0]["changes"]}
    assert sorted(changes.values()) == [(-1, 1), (0, 1)]
    ends = [play_out(client, described("othello_4x4", "random"), choice=choice)[1] for choice in (1, 3)]
    passes = [ply for view in ends for ply in view["plies"] if ply["text"] == "pass"]
    assert [ply["by_person"] for ply in passes] == [True, False]
    assert all(ply["is_forced"] and ply["pointed"] == ply["changes"] == [] for ply in passes)


def test_any_square_selects_its_column_and_the_stone_falls(client: TestClient) -> None:
    match = described("connect_four", "random", "both")
    view = shown(client, match)
    assert [legal["square"] for legal in view["legal"]] == list(range(35, 42))
    assert view["legal"][3]["pointed"] == [3, 10, 17, 24, 31, 38]
    match, view = act(client, match, 3)
    assert view["plies"][0]["changes"] == [[38, 1]]
    match, view = act(client, match, 0)
    assert (board_of(view)[35], view["legal"][3]["square"]) == (-1, 31)


def test_a_game_without_a_board_shows_its_number(client: TestClient) -> None:
    match = described("sumto100", "perfect")
    view = shown(client, match)
    assert (view["place"], view["start"], len(view["legal"])) == (0, None, 10)
    _, view = act(client, match, 6)
    assert [ply["place"] for ply in view["plies"]] == [7, view["place"]]
    assert view["place"] == 12  # perfect play leaves the opponent at 1, 12, 23, ...


def test_another_level_takes_over_in_the_same_position(client: TestClient) -> None:
    match, view = act(client, described(opponent="level-1"), 0, valued=0)
    other = shown(client, match | {"opponent": "level-3"}, valued=0)
    assert (board_of(other), other["opponent"]["id"]) == (board_of(view), "level-3")
    assert [legal["value"] for legal in other["legal"]] != [legal["value"] for legal in view["legal"]]
    # The new opponent values the earlier plies too, if that is asked for.
    assert None not in [ply["value"] for ply in other["plies"]]
    searched = match | {"opponent": "search-2"}
    assert [ply["value"] for ply in shown(client, searched, valued=2)["plies"]] == [None, None]
    assert None not in [ply["value"] for ply in shown(client, searched, valued=0)["plies"]]
    assert play_out(client, searched)[1]["is_over"]


def test_hints_and_perfect_values(client: TestClient) -> None:
    texts = [f"{action // 3},{action % 3}" for action in range(9)]
    legal = [
        {"action": action, "text": text, "name": text, "value": 0.0, "words": "draws"}
        for action, text in enumerate(texts)
    ]
    values = {
        "kind": "results",
        "is_exact": True,
        "source": "Perfect play",
        "legal": legal,
        "is_complete": True,
    }
    found = answer(client, described(), show=["judged"])
    assert found == {
        "match": None,
        "judged": values,
        "hint": None,
        "file": None,
        "dead": None,
        "territory": None,
        "late": [],
        "record": None,
    }
    # X has taken a corner, so everything but the centre loses, whatever the opponent expects.
    found = answer(client, described(opponent="level-1", person="both", moves="0,0"), show=["view", "hint"])
    hint = found["hint"]
    assert (hint["text"], hint["words"], hint["source"]) == ("1,1", "draws", "Perfect play")
    assert [[int(part) for part in text.split(",")] for text in hint["line"]] == [
        list(divmod(square, 3)) for (square,) in hint["line_squares"]
    ]
    assert (hint["line"][0], board_of(found["match"])[0]) == ("1,1", 1)
    assert {one["value"] for one in shown(client, described(opponent="random"), valued=0)["legal"]} == {None}


@pytest.mark.parametrize(
    ("game", "judge"),
    [
        ("othello", "Pretrained, 5 plies"),
        pytest.param("tictactoe_6x6", "Tree search, 4,000 random ", marks=pytest.mark.slow),
    ],
)
def test_hints_and_values_of_a_large_game_are_those_of_the_judge(
    client: TestClient, service: MatchService, game: str, judge: str
) -> None:
    service.settings.search_seconds = 60
    found = answer(client, described(game, "random"), show=["view", "hint", "judged"], valued=0)
    hint, judged = found["hint"], found["judged"]
    assert hint["source"] == judged["source"]
    assert hint["source"].startswith(judge)
    best = max((one for one in judged["legal"] if one["value"] is not None), key=lambda one: one["value"])
    assert (best["action"], best["text"]) == (hint["action"], hint["line"][0])
    assert (hint["value"], hint["words"]) == (best["value"], None)
    # The random player estimates nothing, so the values on the board are those of the judge too.
    assert [one["value"] for one in found["match"]["legal"]] == of_each("value", judged)
    # The stream of random numbers of the match changes nothing, also where nothing is known from an earlier request.
    # How long the line is depends on the time.
    service.recent = RecentEstimates()
    again = answer(client, described(game, "random", seed=4711), show=["hint"])["hint"]
    for field in ("line", "line_squares", "line_names"):
        shorter, longer = sorted([again.pop(field), hint.pop(field)], key=len)
        assert longer[: len(shorter)] == shorter
    assert again == hint


@pytest.mark.slow
def test_tree_search_values_all_moves_alike_where_they_are_asked_for(client: TestClient, service: MatchService) -> None:
    service.settings.search_seconds = 60
    match = described("gomoku", "random", "both", moves="d4")
    found = answer(client, match, show=["hint", "judged"])
    assert sum(value is not None for value in of_each("value", found["judged"])) == 1
    every = answer(client, match, show=["judged"], values_all=True)["judged"]
    values = {one["action"]: one["value"] for one in every["legal"]}
    assert None not in values.values()
    assert max(values.values()) == values[found["hint"]["action"]] == found["hint"]["value"]


@pytest.mark.slow
def test_what_there_is_no_time_for_is_left_out_of_the_answer_but_the_opponent_moves(
    client: TestClient, service: MatchService
) -> None:
    service.settings.search_seconds = 1e-6
    match = described("breakthrough", "hard", "second")
    found = answer(client, match, advance=True, valued=0, show=["view", "judged", "hint"])
    assert (found["judged"], found["hint"], found["late"]) == (None, None, ["judged", "hint"])
    assert (len(found["match"]["plies"]), found["match"]["awaits_person"]) == (1, True)
    assert {one["value"] for one in found["match"]["legal"]} == {None}
    service.settings.search_seconds = 60
    again = answer(client, match | {"moves": found["match"]["moves"]}, show=["judged", "hint"])
    assert (again["judged"]["source"], again["hint"]["source"], again["late"]) == (*["Pretrained, 8 plies"] * 2, [])


@pytest.mark.slow
def test_the_hint_is_the_move_that_wins_at_once(run_dir: Path) -> None:
    # However long it takes to compile the search.
    client = client_of(create_app(MatchService(web_settings(run_dir, search_seconds=60))))
    # X has captured on d4, one row before the last, and O has not recaptured.
    moves = "c2c3 b3b4 c3d4 a3a4"
    found = answer(client, described("breakthrough", "random", person="both", moves=moves), show=["hint", "judged"])
    assert found["hint"]["line"] in (["d4c5"], ["d4e5"])
    assert found["hint"]["value"] == 1.0
    assert max(value for value in of_each("value", found["judged"]) if value is not None) == 1.0


def test_a_match_depends_only_on_its_seed_and_that_of_the_server(run_dir: Path) -> None:
    def play(server: int, match: int, opponent: str = "random") -> list[Json]:
        client = client_of(create_app(MatchService(web_settings(run_dir, seed=server))))
        _, view = play_out(client, described(opponent=opponent, person="second", seed=match))
        return [ply["action"] for ply in view["plies"]]

    assert play(0, 7) == play(0, 7)
    assert len({tuple(play(server, match)) for server in (0, 1) for match in (0, 1, 2**53 - 1)}) > 3
    # Any process gives the same replies, also of a search with random matches.
    assert play(0, 7, "mcts-rollouts") == play(0, 7, "mcts-rollouts")


def test_a_searched_position_is_not_searched_again(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    match, _ = act(client, described(opponent="search-4"), 4)
    before = shown(client, match, valued=0)
    monkeypatch.setattr("selfplay.players.search.SearchPlayer.action_values", None)
    assert shown(client, match, valued=0) == before


@pytest.mark.parametrize("name", with_slow_boards(game_names()))
def test_the_rules_of_each_game_come_with_the_last_position_of_an_example(client: TestClient, name: str) -> None:
    rules = client.get(f"/api/games/{name}/rules").json()
    show = make_game(name).presentation
    assert rules["sentences"] == list(show.how_to_play)
    assert rules["caption"] == show.example_caption
    assert rules["picture"]["moves"] == show.example
    assert rules["picture"]["legal"] == []


def test_the_games_are_listed_and_others_have_no_rules(client: TestClient) -> None:
    views = client.get("/api/games").json()
    assert [view["name"] for view in views] == game_names()
    turned = [view["name"] for view in views if view["turns_for_second"]]
    assert turned == ["breakthrough", "breakthrough_6x6", "breakthrough_8x8", "draughts"]
    assert [view["name"] for view in views if view["drops_stones"]] == ["connect_four"]
    assert client.get("/api/games/nine/rules").status_code == 404
