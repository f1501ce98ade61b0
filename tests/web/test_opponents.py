"""The server's answers: who there is to play against, and what is proved of them."""

import os
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from selfplay.games import GAMES
from tests.web.playing import Json, begin


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
