"""The API: a match is its moves, from its start or a position; other seats, earlier positions, learning."""

import pytest
from fastapi.testclient import TestClient

from tests.web.match_requests import Json, act, answer, board_of, described, of_each, play_out, refused, shown

CROSS = {"squares": [1, -1, 0, 0, 0, 0, 0, 0, 0], "to_move": 0}


def test_a_match_is_shown_by_its_moves_with_the_values_of_its_plies(client: TestClient) -> None:
    match, view = act(client, described(), 4, valued=0)
    again = shown(client, described(moves=view["moves"]), valued=0)
    assert again == view
    assert None not in [ply["value"] for ply in again["plies"]]
    assert [ply["by_person"] for ply in again["plies"]] == [True, False]
    # Fewer moves take them back, and the same ones get the same reply.
    assert shown(client, match | {"moves": ""}) == shown(client, described())
    second = shown(client, match | {"person": "second"}, advance=False)
    assert [ply["by_person"] for ply in second["plies"]] == [False, True]
    assert not second["awaits_person"]


@pytest.mark.parametrize("opponent", ["tabular:backward_value", "memory-experience"])
def test_a_player_learns_from_a_match_once_and_not_from_practice(client: TestClient, opponent: str) -> None:
    match, view = play_out(client, described(opponent=opponent, seed=5))
    before = view["standing"]
    assert refused(client, described(opponent=opponent), learn=True)[0] == 409
    assert refused(client, match | {"is_practice": True}, learn=True)[0] == 409
    assert shown(client, match)["standing"] == before
    once = shown(client, match, learn=True)
    assert once["standing"] != before
    assert shown(client, match, learn=True)["standing"] == once["standing"]
    assert shown(client, match | {"seed": 6}, learn=True)["standing"] != once["standing"]


def test_moves_and_positions_are_checked(client: TestClient) -> None:
    def answered(**given: object) -> tuple[int, str]:
        return refused(client, described() | given)

    assert answered(moves="1,1 1,1")[0] == 409
    assert answered(moves="9,9") == (
        409,
        "'9,9' is not a move; write row,column from 0 to 2, or 1 to 9, or the keys qwe/asd/zxc",
    )
    assert answered(moves="x" * 16_001)[0] == 422
    assert answered(position={"squares": [2] * 9, "to_move": 0})[0] == 422
    assert answered(position={"squares": [0] * 401, "to_move": 0}) == (409, "a board has 9 squares, not 401")
    assert answered(position={"squares": [1] * 9, "to_move": 0})[0] == 409
    assert answered(position={"squares": [0] * 8, "to_move": 0}) == (409, "a board has 9 squares, not 8")
    code, sentence = answered(game="sumto100", opponent="random", position=CROSS)
    assert (code, "cannot be set up" in sentence) == (422, True)
    assert answered(person="none", partner="level-77")[0] == 404
    for seed in (-1, 2**53, 1.5, "1"):
        assert answered(seed=seed)[0] == 422


def test_a_text_is_read_up_to_a_wrong_move_where_it_is_asked_for_what_it_says(client: TestClient) -> None:
    def read(game: str, moves: str, part: str = "record") -> tuple[int, Json]:
        match = described(game, "random", "both", moves=moves, show=["view", part])
        response = client.post("/api/match", json=match)
        return response.status_code, response.json()

    said = {"players": ["", ""], "result": None, "comments": {}, "variations": 0}
    _, found = read("tictactoe", "1,1 0,0 1,1 2,2")
    assert found["match"]["moves"] == "1,1 0,0"
    assert found["record"] == said | {"broken": "move 3: action 1,1 is not legal here: it is occupied"}
    assert read("tictactoe", "1,1 0,0 1,1 2,2", "file")[0] == 409
    assert read("tictactoe", "hello")[0] == 409
    assert read("tictactoe", "# hello\n") == (409, {"error": "the text holds no match"})
    _, found = read("go_3x3", "(;GM[1]SZ[3]KM[7.5]PB[Ann]PW[Bo]RE[B+2.5];B[bb]C[good](;W[ab])(;W[ba]))")
    assert found["record"] == {
        "players": ["Ann", "Bo"],
        "result": "black wins by 2.5",
        "comments": {"1": "good"},
        "variations": 1,
        "broken": None,
    }


def test_people_resign_or_agree_on_a_draw(client: TestClient) -> None:
    def ended(person: str, how: str, game: str = "tictactoe", moves: str = "1,1 0,0") -> Json:
        return shown(client, described(game, "random", person, moves=moves, ended=how), advance=True)

    found = [ended(*given)["result"]["winner"] for given in (("first", "resigned"), ("second", "resigned"))]
    assert found == [1, 0]
    # Of two people, the one to move.
    assert ended("both", "resigned", moves="1,1")["result"]["winner"] == 0
    drawn = ended("both", "drawn")
    assert (drawn["is_over"], drawn["result"]["winner"], drawn["legal"], drawn["to_move"]) == (True, None, [], None)
    # The board is not counted.
    go = ended("first", "resigned", "go_3x3", "B2 A1")
    assert (go["points"], go["owners"], go["result"]["points"], go["result"]["lead"]) == (None, None, None, None)
    for given in ({"person": "none"}, {"person": "first", "moves": "1,1 0,0 1,0 0,1 1,2"}):
        assert refused(client, described(opponent="random", ended="drawn", **given))[0] == 409


def test_a_match_begins_in_a_position_and_is_practice(client: TestClient) -> None:
    view = shown(client, described(position=CROSS, moves="1,1"), advance=False)
    assert (view["position"], board_of(view)[:5], view["is_practice"]) == (CROSS, [1, -1, 0, 0, 1], True)
    assert shown(client, described(position=CROSS, person="second"), advance=False)["awaits_person"] is False


def test_two_players_are_watched_ply_by_ply(client: TestClient) -> None:
    match = described(person="none", partner="search-4")
    view = shown(client, match, advance=False)
    assert [seat["id"] for seat in view["seats"]] == ["search-4", "level-3"]
    for number in range(1, 4):
        view = shown(client, match | {"moves": view["moves"]})
        assert len(view["plies"]) == number
    assert not any(ply["by_person"] for ply in view["plies"])
    changed = match | {"opponent": "random", "partner": "level-1", "moves": view["moves"]}
    assert [seat["id"] for seat in shown(client, changed)["seats"]] == ["level-1", "random"]
    assert play_out(client, changed)[1]["is_over"]
    alone = shown(client, described(person="none"))
    assert [seat["id"] for seat in alone["seats"]] == ["level-3", "level-3"]


def test_a_forced_pass_and_the_next_move_are_watched_together(client: TestClient) -> None:
    """Transcripts of Othello have no passes, so that a pass alone would not be remembered."""
    matches = [play_out(client, described("othello_4x4", "random", "none", seed=seed))[1] for seed in range(5)]
    assert any(ply["is_forced"] for view in matches for ply in view["plies"][:-1])


def test_earlier_positions_their_perfect_values_and_best_lines(client: TestClient) -> None:
    match, view = play_out(client, described())
    first = shown(client, match, ply=0, valued=0)
    assert (first["start"], len(first["legal"]), len(first["plies"])) == ([0] * 9, 9, len(view["plies"]))
    assert all(one["value"] is not None for one in first["legal"])
    # Nothing is valued that nobody asks for.
    plain = shown(client, match, ply=0)
    assert {one["value"] for one in plain["legal"] + plain["plies"]} == {None}
    end = shown(client, match, ply=len(view["plies"]))
    assert (end["shown"], end["legal"]) == (view["shown"], [])
    found = answer(client, match, ply=0, show=["judged", "hint"])
    perfect, hint = found["judged"], found["hint"]
    assert of_each("action", perfect) == list(range(9))
    assert (perfect["legal"][4]["text"], of_each("value", perfect)) == ("1,1", [0.0] * 9)
    assert (hint["source"], len(hint["line"])) == ("Perfect play", 9)
    assert refused(client, match, show=["hint"]) == (409, "the match is over")
    for part in ("view", "judged", "hint"):
        assert refused(client, match, ply=99, show=[part]) == (404, f"this match has only {len(view['plies'])} plies")


@pytest.mark.parametrize(
    ("game", "name"), [("tictactoe", "tictactoe.txt"), ("othello", "othello.ggf"), ("go_5x5", "go_5x5.sgf")]
)
def test_a_match_is_written_as_a_file_that_can_be_loaded(client: TestClient, game: str, name: str) -> None:
    match = described(game, "random")
    match, view = act(client, match, shown(client, match)["legal"][0]["action"])
    file = answer(client, match, show=["file"])["file"]
    assert file["name"] == name
    again = shown(client, described(game, "random", moves=file["text"]))
    assert again["moves"] == view["moves"]
