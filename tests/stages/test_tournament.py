"""Tournaments: consistent tables, exact and sampled figures, files, the program."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from selfplay.errors import InvalidFileError, StageError
from selfplay.games import make_game
from selfplay.progress import NoProgress
from selfplay.records import read_record_file
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.matches import TournamentSettings
from selfplay.stages.tournament import Tournament, play_tournament, tournament_report
from tests.support.kills import is_killed_at_change
from tests.support.rejections import assert_refused
from tests.support.runs import COMMAND, run_forked

PLAYERS = "[random,perfect,'perfect?epsilon=0.3','random?epsilon=1']"


def settings_for(run_dir: Path, *overrides: str) -> TournamentSettings:
    defaults = [f"players={PLAYERS}", "matches=400", f"run_dir={run_dir}"]
    return compose_settings_of(TournamentSettings, "tournament", [*defaults, *overrides])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run")


@pytest.fixture(scope="module")
def tournament(folder: Path) -> Tournament:
    return play_tournament(settings_for(folder))


def test_every_pair_plays(tournament: Tournament) -> None:
    assert list(tournament.results) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert {result.results.matches for result in tournament.results.values()} == {400}
    scores = tournament.scores()
    assert (scores + scores.T == 400 * (1 - np.eye(4))).all()


def test_the_tables_are_written(tournament: Tournament, folder: Path) -> None:
    pairs = pd.read_csv(folder / "tournament" / "pairs.csv")
    assert list(pairs.columns) == [
        *("player", "opponent", "wins", "draws", "losses", "opening_plies", "distinct"),
        *("rated_wins", "rated_draws", "rated_losses", "forfeits", "opponent_forfeits"),
        *("exact_win", "exact_draw", "exact_loss"),
    ]
    assert pairs["wins"].tolist() == [result.results.wins for result in tournament.results.values()]
    players = pd.read_csv(folder / "tournament" / "players.csv").set_index("player")
    assert players.index[0] == "perfect"
    assert players["rating"].is_monotonic_decreasing
    assert players.loc["random", ["rating", "rating_low", "rating_high"]].tolist() == [0, 0, 0]
    perfect = players.loc["perfect"]
    assert perfect["rating_low"] < perfect["rating"] < perfect["rating_high"]
    assert perfect["losing_lines_first"] == perfect["losing_lines_second"] == 0
    assert players["wins"].sum() == players["losses"].sum()
    # Equal players have ratings without a significant difference.
    again = players.loc["random?epsilon=1"]
    assert again["rating_low"] < 0 < again["rating_high"]
    assert Image.open(folder / "tournament" / "scores.png").size[0] > 500


REPEATING = "players=['perfect?ties=lowest','search:negascout?depth=1&evaluation=none',random]"


def test_players_that_repeat_themselves_begin_with_random_openings(tmp_path: Path) -> None:
    tournament = play_tournament(settings_for(tmp_path, REPEATING, "matches=40"))
    pairs = pd.read_csv(tmp_path / "tournament" / "pairs.csv")
    # Against the random player every match is another one, and both players meet it from the initial position.
    assert pairs["opening_plies"].tolist() == [2, 0, 0]
    assert pairs["distinct"].min() > 20
    said = "\nThe matches of 1 of 3 pairs have begun with 2 random plies, the same from both sides (opening_plies)."
    assert said in tournament_report(tournament)


def test_copies_of_matches_are_not_evidence(tmp_path: Path) -> None:
    tournament = play_tournament(settings_for(tmp_path, REPEATING, "matches=40", "opening_plies=0"))
    report = tournament_report(tournament)
    assert "\nOnly 2 of the 40 matches differ in 1 of 3 pairs; copies do not count in ratings and intervals." in report
    # The ratings are those of two matches of the pair.
    two = play_tournament(settings_for(tmp_path / "two", REPEATING, "matches=2", "opening_plies=0"))
    (pair, first), *_ = tournament.results.items()
    assert first.results.matches == 20 * two.results[pair].results.matches
    assert first.evidence == two.results[pair].results


def test_the_program_prints_the_tables(tmp_path: Path) -> None:
    done = run_forked(
        COMMAND, "tournament", "players=[random,perfect?ties=lowest]", "matches=50", f"run_dir={tmp_path}"
    )
    assert done.returncode == 0, done.stderr
    assert "2 perfect?ties=lowest" in done.stdout
    assert (tmp_path / "tournament" / "scores.png").exists()


def test_a_player_that_is_not_graded_leaves_its_fields_empty(tmp_path: Path) -> None:
    tournament = play_tournament(settings_for(tmp_path, "players=[random,'mcts:rollouts?simulations=2']", "matches=2"))
    assert "0.4365 0.4365 77904 131184" in " ".join(tournament_report(tournament).split())
    assert "nan" not in tournament_report(tournament).lower()
    assert ",77904,255168,131184,255168," in (tmp_path / "tournament" / "players.csv").read_text()


SHORT = ("players=[random,'random?epsilon=1','random?epsilon=0.5']", "matches=2")


def content(folder: Path) -> dict[str, bytes]:
    """The files of a tournament and of its matches."""
    files = (path for name in ("tournament", "matches") for path in (folder / name).rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files if path.name != "manifest.json"}


def short_settings(folder: Path, *overrides: str) -> TournamentSettings:
    return settings_for(folder, *SHORT, f"sgf={folder / 'matches'}", *overrides)


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("short")
    play_tournament(short_settings(folder))
    return folder


class InterruptedAfterOnePair(NoProgress):
    def update(self, count: int) -> None:
        raise KeyboardInterrupt


def test_an_interrupted_tournament_resumes_after_its_last_pair(
    short: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(KeyboardInterrupt):
        play_tournament(short_settings(tmp_path), InterruptedAfterOnePair)
    table = tmp_path / "tournament" / "pairs.csv"
    assert len(pd.read_csv(table)) == 1
    with caplog.at_level("INFO", "selfplay"):
        play_tournament(short_settings(tmp_path))
    assert "1 of 3 pairs were already played, skipped" in caplog.messages
    assert content(tmp_path) == content(short)
    # A finished one is not played again, and not written: it may be on a file system where this is not possible.
    files = [path for path in (tmp_path / "tournament").iterdir() if os.utime(path, (0, 0)) is None]
    play_tournament(short_settings(tmp_path), InterruptedAfterOnePair)
    assert {path.stat().st_mtime for path in files} == {0}
    (tmp_path / "tournament" / "players.csv").unlink()
    play_tournament(short_settings(tmp_path), InterruptedAfterOnePair)
    assert content(tmp_path) == content(short)


@pytest.mark.slow
def test_a_tournament_that_is_killed_again_and_again_ends_in_the_same_bytes(short: Path, tmp_path: Path) -> None:
    kills = 0
    while is_killed_at_change(kills + 1, play_tournament, short_settings(tmp_path), below=tmp_path):
        kills += 1
    assert kills > 8
    assert content(tmp_path) == content(short)


def test_a_tournament_with_another_setting_is_refused_unless_it_is_forced(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        play_tournament(short_settings(tmp_path), InterruptedAfterOnePair)
    with pytest.raises(StageError, match=r"matches was 2, is 4; set another run_dir, or force=true to replace it$"):
        play_tournament(short_settings(tmp_path, "matches=4"))
    forced = play_tournament(short_settings(tmp_path, "matches=4", "force=true"))
    assert {result.results.matches for result in forced.results.values()} == {4}


def test_a_tournament_of_a_player_whose_code_has_changed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = (COMMAND, "tournament", "players=[random,own_player:Same]", "matches=2", "run_dir=run")
    source = "from selfplay import RandomPlayer\n\n\nclass Same(RandomPlayer):\n    chosen = 1\n"
    (tmp_path / "own_player.py").write_text(source)
    played = run_forked(*command)
    assert played.returncode == 0, played.stderr
    # Of another length: Python takes its compiled file for that of a source of the same second and length.
    (tmp_path / "own_player.py").write_text(source.replace("1", "22"))
    assert_refused(run_forked(*command), 1, "own_player.py has changed", "set another run_dir")


def test_a_changed_table_of_pairs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        play_tournament(short_settings(tmp_path), InterruptedAfterOnePair)
    table = tmp_path / "tournament" / "pairs.csv"
    table.write_text(table.read_text().replace("random,random?epsilon=1", "random,perfect"))
    with pytest.raises(InvalidFileError, match="is not a table of the pairs of this tournament; force=true plays all"):
        play_tournament(short_settings(tmp_path))


def test_the_matches_of_each_pair_are_kept_in_a_folder_of_their_own(short: Path) -> None:
    names = sorted(str(path.relative_to(short / "matches")) for path in (short / "matches").rglob("*.*"))
    assert names == [f"{pair}/match_00000{number}.txt" for pair in ("1_2", "1_3", "2_3") for number in (1, 2)]
    last = read_record_file(short / "matches" / "1_3" / "match_000002.txt", make_game("tictactoe"))
    assert last.match.is_over
