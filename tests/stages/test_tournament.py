"""Tournaments: consistent tables, exact and sampled figures, files, the program."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from selfplay.settings.compose import compose_settings_of
from selfplay.settings.matches import TournamentSettings
from selfplay.stages.tournament import Tournament, play_tournament, tournament_report
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
        *("forfeits", "opponent_forfeits"),
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
    two = play_tournament(settings_for(tmp_path, REPEATING, "matches=2", "opening_plies=0"))
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
