"""The API: the list of opponents, and what is proved about them."""

import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from selfplay.agents.checkpoints import load_checkpoint, save_checkpoint
from selfplay.architectures import build_network
from selfplay.errors import SettingError
from selfplay.files import sha256
from selfplay.games import game_names, make_game
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.common import GameSettings
from selfplay.settings.matches import ProofSettings
from selfplay.stages.prove import prove_and_report
from selfplay.web.app import create_app
from selfplay.web.loaded_players import LoadedPlayers
from selfplay.web.match_service import MatchService
from tests.web.conftest import client_of, web_settings
from tests.web.match_requests import Json, described, play_out, refused, shown


def test_opponents_come_from_the_run_and_notes_name_what_is_missing(client: TestClient, run_dir: Path) -> None:
    offer = client.get("/api/games/tictactoe/opponents").json()
    ids = [one["id"] for one in offer["opponents"]]
    levels, searches = ["level-1", "level-2", "level-3"], [f"search-{depth}" for depth in range(1, 5)]
    tables = ["tabular:backward_value", "tabular:backward_value?epsilon=0&learn=false"]
    trees = ["mcts-rollouts", "mcts-level"]
    strengths = ["beginner", "easy", "medium", "hard"]
    assert ids == [*strengths, *levels, *searches, *trees, "random", *tables, "memory-experience", "perfect"]
    assert [one["id"] for one in offer["opponents"] if one["is_default"]] == ["level-3", "search-4"]
    words = {"Beginner": "beginner", "Easy": "easy", "Medium": "medium", "Hard": "hard", "Perfect": "perfect"}
    assert (offer["strengths"], offer["default"]) == (words, "beginner")
    assert offer["notes"] == []
    for level in range(1, 4):
        (run_dir / f"level_{level:02d}" / "agent.safetensors").unlink()
    notes = client.get("/api/games/tictactoe/opponents").json()["notes"]
    assert notes == [f"{run_dir} has no trained level yet; train some with ./learn_tictactoe.sh run_dir={run_dir}."]
    assert [one["id"] for one in client.get("/api/games/othello/opponents").json()["opponents"]][-1] == "greedy"


def test_a_table_learns_from_matches_on_the_page_unless_it_is_fixed(client: TestClient, run_dir: Path) -> None:
    table = run_dir / "tabular" / "backward_value.npz"
    before = table.read_bytes()
    match, _ = play_out(client, described(opponent="tabular:backward_value?epsilon=0&learn=false"))
    shown(client, match, learn=True)
    assert table.read_bytes() == before
    match, _ = play_out(client, described(opponent="tabular:backward_value"))
    assert table.read_bytes() == before
    view = shown(client, match, learn=True)
    assert table.read_bytes() != before
    assert view["standing"] == "backward_value has learned from 1 match against others"


def test_a_table_is_loaded_again_when_its_file_has_the_inode_of_an_earlier_one(
    client: TestClient, run_dir: Path
) -> None:
    table = run_dir / "tabular" / "backward_value.npz"
    before = table.read_bytes()
    match, _ = play_out(client, described(opponent="tabular:backward_value"))
    shown(client, match, learn=True)
    assert shown(client, match)["standing"] == "backward_value has learned from 1 match against others"
    table.write_bytes(before)
    assert shown(client, match)["standing"] == "backward_value has learned from 0 matches against others"


def test_a_missing_level_a_broken_file_and_an_unknown_game_are_reported(client: TestClient, run_dir: Path) -> None:
    code, sentence = refused(client, described(opponent="level-9"))
    assert code == 404
    assert "choose one of beginner, easy, medium, hard, level-1, level-2, level-3, search-1, " in sentence
    assert refused(client, described("chess")) == (404, f"unknown game; choose one of {', '.join(game_names())}")
    agent = run_dir / "level_02" / "agent.safetensors"
    agent.write_bytes(b"broken")
    code, sentence = refused(client, described(opponent="level-2"), advance=True)
    assert code == 409
    assert str(agent) in sentence


@pytest.mark.parametrize(
    "match",
    [
        described(opponent="hard", person="second", moves="1,1"),
        described(opponent="search-2", person="both", adviser="easy", moves="1,1 0,2"),
        described(opponent="level-2", person="none", partner="hard"),
    ],
)
def test_a_match_is_shown_without_its_players(client: TestClient, monkeypatch: pytest.MonkeyPatch, match: Json) -> None:
    by_players = shown(client, match, valued=0, advance=False)
    monkeypatch.delattr(LoadedPlayers, "lent")
    view = shown(client, match, advance=False)
    unvalued = ("plies", "legal", "values_in_points")
    assert view == by_players | {name: view[name] for name in unvalued}
    assert [one["action"] for one in view["legal"]] == [one["action"] for one in by_players["legal"]]


@pytest.mark.parametrize("name", ["level-../../x", "tabular:/etc/passwd"])
def test_only_listed_opponents_can_be_chosen(client: TestClient, name: str) -> None:
    assert refused(client, described(opponent=name))[0] == 404


def test_proofs_of_small_games(client: TestClient) -> None:
    def proof(game: str, opponent: str) -> Json:
        return client.get(f"/api/games/{game}/proof", params={"opponent": opponent}).json()

    perfect = proof("tictactoe", "perfect")
    assert (perfect["is_unbeatable"], perfect["unbeatable_seats"]) == (True, [0, 1])
    assert perfect["text"].startswith("Perfect play cannot lose: all ")
    assert proof("tictactoe", "random")["is_unbeatable"] is False
    assert re.fullmatch(
        r"Against the best replies Random loses \d+\.\d% of its matches moving first, \d+\.\d% moving second\.",
        proof("tictactoe", "random")["text"],
    )
    assert proof("tictactoe", "search-1")["is_unbeatable"] is False
    searched = proof("tictactoe", "mcts-rollouts")
    assert searched["is_unbeatable"] is searched["unbeatable_seats"] is None
    assert searched["text"].startswith("Whether Tree search, random matches can lose is not known")
    held = proof("sumto100", "perfect")
    assert (held["is_unbeatable"], held["unbeatable_seats"]) == (False, [0])
    assert held["text"].startswith("Perfect play cannot lose moving first: all 1")
    assert " x 10^" in held["text"]
    assert "Moving second, every player loses" in held["text"]
    othello = {
        "is_unbeatable": None,
        "unbeatable_seats": None,
        "text": "Othello has too many positions to try every line while you wait.",
    }
    assert proof("othello", "search-1") == othello


def test_a_game_and_opponents_from_outside_are_offered_if_the_settings_name_them(tmp_path: Path) -> None:
    game, player = "tests.support.pile:Pile", "tests.support.stub_players:FirstLegal"
    settings = web_settings(tmp_path, game=GameSettings(game), opponents=[player, "random?epsilon=0.5"])
    with client_of(create_app(MatchService(settings))) as client:
        names = {one["name"]: one["is_default"] for one in client.get("/api/games").json()}
        assert set(names) == {*game_names(), game}
        assert names[game]
        ids = [one["id"] for one in client.get(f"/api/games/{game}/opponents").json()["opponents"]]
        assert {player, "random?epsilon=0.5"} <= set(ids)
        _, view = play_out(client, described(game, player))
        assert view["opponent"]["label"] == player
        assert refused(client, described(game, "os:getcwd"))[0] == 404


def test_an_opponent_that_is_not_a_player_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="unknown player 'nobody'"):
        MatchService(web_settings(tmp_path, opponents=["nobody"]))


def test_a_level_that_was_trained_again_is_loaded_again(client: TestClient, run_dir: Path) -> None:
    before = shown(client, described(opponent="level-2"), valued=0)["legal"]
    Manifest(run_dir / "level_02").forget("training")
    game = make_game("tictactoe")
    network, said = load_checkpoint(run_dir / "level_03" / "agent.safetensors", game)
    path = run_dir / "level_02" / "agent.safetensors"
    save_checkpoint(path, network, game, 2, said["architecture"], said["training"], said["outcome"])
    two, three = (shown(client, described(opponent=name), valued=0)["legal"] for name in ("level-2", "level-3"))
    assert two == three != before


def test_the_proof_in_a_larger_game_comes_from_the_comparison_of_these_agents(
    client: TestClient, run_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("selfplay.web.proof.MAX_GRADED_POSITIONS", 10)

    def proof() -> Json:
        return client.get("/api/games/tictactoe/proof", params={"opponent": "level-3"}).json()

    assert proof()["is_unbeatable"] is None
    run = RunFolder(run_dir)
    agents = [sha256(run.agent(level)) for level in run.trained_levels()]
    Manifest(run_dir).record("comparison", {"agents_sha256": agents}, {}, ["comparison/levels.csv"])
    row = client.get("/api/games/tictactoe/story").json()["comparison"][3]
    lost, total = row["losing_lines_first"], row["lines_first"]
    assert proof()["text"].startswith(f"Level 3 loses {lost}/{total} lines moving first and")
    run.agent(3).write_bytes(run.agent(2).read_bytes())
    assert proof()["is_unbeatable"] is None


def test_the_report_of_a_walk_is_shown_beside_the_players_of_the_same_weights(run_dir: Path) -> None:
    folder = run_dir.parent / "connect_four"
    run, player = RunFolder(folder), "search:negascout?depth=1&evaluation=level:1&endgame=14"
    run.agent(1).parent.mkdir(parents=True)
    game, tables = make_game("connect_four"), {"name": "ntuple"}
    network = build_network(tables, game.observation_shape, game.num_distinct_actions)
    save_checkpoint(run.agent(1), network, game, 1, tables, {})
    where = {"run_dir": str(folder), "game": GameSettings("connect_four")}
    report = prove_and_report(ProofSettings(player=player, after="45534254742753676237723372216", **where))
    assert "is proved to win moving first against every play." in report
    with client_of(create_app(MatchService(web_settings(run_dir, opponents=[player])))) as client:

        def text(opponent: str) -> str:
            return client.get("/api/games/connect_four/proof", params={"opponent": opponent}).json()["text"]

        of_no_walk = "Connect Four has too many positions to try every line while you wait."
        assert [text("level-1"), text(player), text("random")] == [report] * 2 + [of_no_walk]
        run.agent(1).write_bytes(run.agent(1).read_bytes() + b" ")
        assert [text("level-1"), text(player)] == [of_no_walk] * 2
