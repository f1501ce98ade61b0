"""The story of a run: what its files contain, what is missing, and that changes are seen."""

import os
import shutil
from pathlib import Path

from fastapi.testclient import TestClient

from selfplay.files import sha256
from selfplay.games import make_game
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.common import GameSettings
from selfplay.settings.playing import WebSettings
from selfplay.web.opponents import OpponentCatalog
from selfplay.web.runs import other_runs

STORY = "/api/games/tictactoe/story"
RUNS = "/api/games/tictactoe/runs"


def test_the_story_contains_losses_results_exact_figures_and_ratings(client: TestClient) -> None:
    story = client.get(STORY).json()
    assert (story["levels"], story["is_running"], story["notes"]) == ([1, 2, 3], False, [])
    assert [(one["level"], len(one["epochs"])) for one in story["losses"]] == [(1, 3), (2, 3), (3, 3)]
    rows = story["comparison"]
    assert [row["level"] for row in rows] == [0, 1, 2, 3]
    counts = ("wins", "draws", "losses")
    played = [[row[f"{count}_vs_{other}"] for count in counts] for row in rows for other in ("previous", "random")]
    assert played[:2] == [[None] * 3] * 2
    assert {sum(results) for results in played[2:]} == {20}
    assert (rows[0]["losing_lines_second"], rows[0]["lines_second"]) == (131184, 255168)
    # The table has six decimal places.
    chances = [[row[f"exact_{result}_vs_random"] for result in ("win", "draw", "loss")] for row in rows]
    assert all(abs(sum(chance) - 1) < 2e-6 for chance in chances)
    assert rows[0]["rating"] == 0


def test_an_unchanged_story_is_not_sent_again_and_a_change_is(client: TestClient, run_dir: Path) -> None:
    first = client.get(STORY)
    tag = {"If-None-Match": first.headers["ETag"]}
    assert client.get(STORY, headers=tag).status_code == 304
    shutil.copytree(run_dir / "level_03", run_dir / "level_04")
    second = client.get(STORY, headers=tag)
    assert (second.status_code, second.json()["levels"]) == (200, [1, 2, 3, 4])
    assert second.json()["notes"] == ["The comparison is older than level 4; it is updated when the run ends."]
    assert second.headers["ETag"] != first.headers["ETag"]


def test_a_run_in_progress_is_marked_as_running(client: TestClient, run_dir: Path) -> None:
    tag = {"If-None-Match": client.get(STORY).headers["ETag"]}
    with RunFolder(run_dir).lock():
        assert client.get(STORY, headers=tag).json()["is_running"] == Path("/proc/locks").exists()
    assert client.get(STORY).json()["is_running"] is False


def test_notes_name_what_is_missing_or_broken(client: TestClient, run_dir: Path) -> None:
    (run_dir / "level_02" / "epoch_loss.csv").write_text("nothing\n")
    (run_dir / "comparison" / "levels.csv").write_text("level,rating\n1,high\n")
    story = client.get(STORY).json()
    assert [one["level"] for one in story["losses"]] == [1, 3]
    # What was measured after the training of each level stays.
    assert [(row["level"], row["rating"]) for row in story["comparison"]] == [(1, None), (2, None), (3, None)]
    broken, unread = story["notes"]
    assert "level_02/epoch_loss.csv: its first line is not" in broken
    assert "levels.csv: is not a table of compared levels (could not convert string to float: 'high')" in unread
    shutil.rmtree(run_dir)
    story = client.get(STORY).json()
    assert story["levels"] == story["losses"] == []
    command = f"./learn_tictactoe.sh run_dir={run_dir}"
    assert story["notes"] == [f"{run_dir} has no trained level yet; train some with {command}."]


def test_a_file_that_is_broken_for_several_parts_of_the_story_has_one_note(client: TestClient, run_dir: Path) -> None:
    (run_dir / "manifest.json").write_text("[]")
    (note,) = client.get(STORY).json()["notes"]
    assert "manifest.json: is not a manifest of this format" in note


def test_a_run_that_is_a_file_or_a_link_to_itself_has_no_levels(client: TestClient, run_dir: Path) -> None:
    shutil.rmtree(run_dir)
    for made in (run_dir.touch, lambda: run_dir.symlink_to(run_dir)):
        made()
        (note,) = client.get(STORY).json()["notes"]
        assert "has no trained level yet" in note
        assert client.get(RUNS).json() == []
        run_dir.unlink()


def test_a_note_says_that_a_level_was_made_again_after_the_comparison(client: TestClient, run_dir: Path) -> None:
    run = RunFolder(run_dir)
    agents = [sha256(run.agent(level)) for level in run.trained_levels()]
    Manifest(run_dir).record("comparison", {"agents_sha256": agents}, {}, ["comparison/levels.csv"])
    assert client.get(STORY).json()["notes"] == []
    weights = (run_dir / "level_02" / "agent.safetensors").read_bytes()
    (run_dir / "level_03" / "agent.safetensors").write_bytes(weights)
    (note,) = client.get(STORY).json()["notes"]
    reason = "level 3 has been made again since the levels were compared"
    assert note.startswith(f"The comparison is not of what is there now: {reason}. ")


def test_a_game_without_a_run_has_the_story_of_the_agent_that_comes_with_the_program(
    client: TestClient, run_dir: Path
) -> None:
    address, own = "/api/games/connect_four/story", run_dir.parent / "connect_four"
    story = client.get(address).json()
    # Only the last level has an agent; the tables have all of them.
    assert (story["comes_with_program"], story["levels"], story["is_running"]) == (True, [15], False)
    assert [one["level"] for one in story["losses"]] == list(range(1, 16))
    assert [row["level"] for row in story["comparison"]] == list(range(16))
    assert {row["level"] for row in story["mistakes"]} == {None, *range(16)}
    assert "level 15 is measured, not" in " ".join(story["summary"]["report"].split())
    assert {"recipe=connect_four", "seed=0", "learner.name=td"} <= set(story["summary"]["settings"])
    command = f"./learn_connect_four.sh run_dir={own}"
    assert story["notes"] == [f"{own} has no trained level yet; train some with {command}."]
    own.mkdir()
    begun = client.get(address).json()
    assert (begun["comes_with_program"], begun["levels"], begun["comparison"]) == (False, [], [])


def test_before_the_comparison_the_story_has_the_exact_grade_of_each_level(client: TestClient, run_dir: Path) -> None:
    compared = client.get(STORY)
    shutil.rmtree(run_dir / "comparison")
    story = client.get(STORY, headers={"If-None-Match": compared.headers["ETag"]}).json()
    known = [name for name in compared.json()["comparison"][0] if "_vs_" not in name and "rating" not in name]
    assert [[row[name] for name in known] for row in story["comparison"]] == [
        [row[name] for name in known] for row in compared.json()["comparison"][1:]
    ]
    assert {(row["rating"], row["wins_vs_previous"], row["wins_vs_random"]) for row in story["comparison"]} == {
        (None, None, None)
    }
    judged = "level,judged_mistake_rate,judged_perfect_rate,judged_points_lost\n3,0.25,0.5,1.5\n"
    (run_dir / "level_03" / "strength.csv").write_text(judged)
    rates = {"mistake_rate": 0.25, "perfect_rate": 0.5, "points_lost": 1.5}
    expected = {"level": 3, "player": "level:3", "group": "all", "positions": None, **rates}
    assert client.get(STORY).json()["mistakes"] == [expected]


def test_the_summary_has_the_settings_the_verdict_and_the_end_of_the_log(client: TestClient, run_dir: Path) -> None:
    first = client.get(STORY)
    assert first.json()["summary"]["report"] is None
    (run_dir / "comparison" / "report.txt").write_text("Level 3 cannot lose.\n")
    (run_dir / "run.log").write_text("".join(f"line {number}\n" for number in range(2000)))
    second = client.get(STORY, headers={"If-None-Match": first.headers["ETag"]})
    summary = second.json()["summary"]
    assert summary["report"] == "Level 3 cannot lose."
    assert summary["log"][-1] == "line 1999"
    assert len(summary["log"]) == 8
    assert "seed=0" in summary["settings"]
    assert summary["seconds_left"] is None
    (run_dir / "run.log").unlink()
    os.mkfifo(run_dir / "run.log")
    assert client.get(STORY).json()["summary"]["log"] == []


def test_other_runs_of_the_game_are_listed_and_have_stories(client: TestClient, run_dir: Path) -> None:
    assert client.get(RUNS).json() == []
    shutil.copytree(run_dir, run_dir.parent / "sweep" / "seed=1")
    shutil.copytree(run_dir / "level_00", run_dir.parent / "young" / "level_00")
    (run_dir.parent / "empty").mkdir()
    (run_dir.parent / "broken" / "level_00").mkdir(parents=True)
    (run_dir.parent / "broken" / "level_00" / "manifest.json").write_text("{")
    (run_dir.parent / "pipe" / "level_00").mkdir(parents=True)
    os.mkfifo(run_dir.parent / "pipe" / "level_00" / "manifest.json")
    other, young = client.get(RUNS).json()
    assert (other["id"], other["levels"]) == ("sweep/seed=1", 3)
    assert "seed=0" in other["settings"]
    assert (young["id"], young["levels"], young["settings"]) == ("young", 0, [])
    first = client.get(STORY, params={"run": other["id"]})
    assert (first.json()["run"], first.json()["levels"]) == (other["id"], [1, 2, 3])
    tag = {"If-None-Match": first.headers["ETag"]}
    assert client.get(STORY, params={"run": other["id"]}, headers=tag).status_code == 304
    # A run that has appeared since is found too; the folders of other games and paths are not.
    shutil.copytree(run_dir, run_dir.parent / "late")
    assert client.get(STORY, params={"run": "late"}).status_code == 200
    assert client.get("/api/games/othello/runs").json() == []
    for unknown in (str(run_dir), "/etc", "../run", "broken", "\0"):
        answer = client.get(STORY, params={"run": unknown})
        assert (answer.status_code, list(answer.json())) == (404, ["error"])


def test_runs_with_the_same_name_in_two_folders_are_both_listed(run_dir: Path, tmp_path: Path) -> None:
    for folder in (tmp_path / "own", tmp_path / "others"):
        shutil.copytree(run_dir, folder / "twin")
    settings = WebSettings(
        str(tmp_path / "own" / "run"), GameSettings("tictactoe"), other_runs=str(tmp_path / "others")
    )
    found = other_runs(OpponentCatalog(settings), make_game("tictactoe"))
    assert {name: run.path.parent.name for name, run in found.items()} == {"twin": "own", "others/twin": "others"}


def test_the_story_says_where_the_training_data_change(client: TestClient) -> None:
    assert client.get(STORY).json()["changes"] == [{"level": 2, "text": "no longer on random matches (level 0)"}]


def test_the_story_contains_the_tournament_and_the_mistakes_and_matches_of_a_large_game(
    client: TestClient, run_dir: Path
) -> None:
    tables = {
        "tournament/players.csv": "player,rating,rating_low,rating_high,wins\nperfect,12.5,3,22,1\nrandom,0,0,0,0\n",
        "comparison/references.csv": "reference,rating,rating_low,rating_high\nrandom,0,0,0\n",
        "comparison/mistakes.csv": "level,player,group,positions,mistake_rate,perfect_rate,points_lost\n"
        "3,level:3,begin-hard,100,0.25,0.5,1.5\n",
        "comparison/matches.csv": "level,player,opponent,wins,draws,losses\n3,level:3,random,9,1,0\n"
        "3,level:3,search:negascout?depth=6&evaluation=none,1,0,1\n",
    }
    (run_dir / "tournament").mkdir()
    for name, text in tables.items():
        (run_dir / name).write_text(text)
    story = client.get(STORY).json()
    unknown = {"draws": None, "losses": None}
    ratings = {"rating": 12.5, "rating_low": 3, "rating_high": 22}
    assert story["tournament"][0] == {"player": "perfect", "wins": 1, **ratings, **unknown}
    assert [one["reference"] for one in story["references"]] == ["random"]
    assert (story["mistakes"][0]["group"], story["mistakes"][0]["mistake_rate"]) == ("begin-hard", 0.25)
    results = {"level": 3, "opponent": "random", "wins": 9, "draws": 1, "losses": 0}
    assert {name: story["matches"][0][name] for name in results} == results
    assert story["matches"][1]["opponent"] == "negascout, 6 plies"


def test_the_agent_of_othello_has_the_story_of_its_run(client: TestClient) -> None:
    story = client.get("/api/games/othello/story").json()
    assert (story["comes_with_program"], story["levels"]) == (True, [11])
    assert {row["level"] for row in story["losses"]} == set(range(1, 12))
    assert [row["level"] for row in story["comparison"]] == list(range(12))
    assert story["matches"][-1]["opponent"] == "negascout, 6 plies, article"


def test_the_story_has_the_matches_of_levels_against_random_matches(client: TestClient, run_dir: Path) -> None:
    assert client.get(STORY).json()["rated"] == []
    columns = "level,simulations,rollouts,score,score_low,score_high,work"
    RunFolder(run_dir).versus_rollouts(1).write_text(f"{columns}\n1,150,1400,0.6,0.45,0.75,12000000000\n")
    RunFolder(run_dir).versus_rollouts(2).write_text("level,score\n2,much\n")
    story = client.get(STORY).json()
    assert [(row["score_low"], row["work"]) for row in story["rated"]] == [(0.45, 12000000000)]
    assert any("versus_rollouts.csv" in note for note in story["notes"])
