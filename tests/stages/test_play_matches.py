"""Series of matches between named players: counts by player and seat, learning players, openings, the program."""

import re
from pathlib import Path

import pytest

import selfplay
from selfplay.experience.store import ExperienceStore
from selfplay.games import make_game
from selfplay.games.win_draw_loss import RunningResults, summed
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.matches import MatchSettings
from selfplay.stages.play_matches import play_match_series
from tests.support.runs import COMMAND, run_forked

GAME = make_game("tictactoe")


def settings_for(run_dir: Path, *overrides: str) -> MatchSettings:
    return compose_settings_of(MatchSettings, "matches", [f"run_dir={run_dir}", *overrides])


def test_results_are_counted_by_player_and_by_seat(tmp_path: Path) -> None:
    swapped = play_match_series(settings_for(tmp_path, "second=perfect", "matches=100"))
    assert swapped.matches == 100
    assert swapped.by_player.wins == 0
    assert min(swapped.by_seat.wins, swapped.by_seat.losses) > 15
    assert swapped.by_seat.wins + swapped.by_seat.losses == swapped.by_player.losses
    fixed = play_match_series(settings_for(tmp_path, "second=perfect", "matches=100", "swap=false"))
    assert (fixed.by_seat.wins, fixed.by_seat.losses) == (0, fixed.by_player.losses)


def test_an_experience_player_learns_between_matches(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "selfplay")
    store = tmp_path / "x.sqlite"
    results = play_match_series(settings_for(tmp_path, f"second=experience:{store}", "matches=10"))
    lines = [record.message for record in caplog.records if record.message.startswith("match ")]
    assert len(lines) == 10
    assert "10 matches" in lines[-1]
    assert results.matches == 10
    caplog.clear()
    play_match_series(settings_for(tmp_path, f"second=experience:{store}", "matches=3", "learn=false"))
    assert "10 matches" in caplog.records[-1].message


def test_a_learning_series_in_two_parts_equals_one_series(tmp_path: Path) -> None:
    def series(name: str, matches: int) -> RunningResults:
        second = f"second='experience:{tmp_path / name}?epsilon=0.3'"
        return play_match_series(settings_for(tmp_path, second, f"matches={matches}"))

    whole = series("whole", 10)
    parts = series("parts", 4), series("parts", 6)
    assert summed(part.by_player for part in parts) == whole.by_player
    assert summed(part.by_seat for part in parts) == whole.by_seat
    stores = [ExperienceStore(tmp_path / name, GAME) for name in ("whole", "parts")]
    assert stores[0].boards() == stores[1].boards()


def test_the_program_counts_by_the_names_of_the_players(tmp_path: Path) -> None:
    done = run_forked(
        COMMAND,
        "play-matches",
        "first=random",
        "second=perfect?ties=lowest&epsilon=0.0",
        "matches=40",
        f"run_dir={tmp_path / 'x'}",
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 20
    assert re.fullmatch(r"match 40: random won 0 \(0\.000\), perfect won \d+ \(0\.\d{3}\), drawn .*", lines[-1])
    assert not (tmp_path / "x").exists()


LOWEST, SHALLOW = "perfect?ties=lowest", "search:negascout?depth=1&evaluation=none"
OPENINGS = "these players repeat themselves, so the first 2 plies are random and both players play each opening"
COPIES = "only 2 of the 60 matches differ, the others are copies"


def test_players_that_repeat_themselves_play_random_openings_unless_told_not_to(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "selfplay")
    by_default = selfplay.match(LOWEST, SHALLOW, matches=60)
    assert by_default == selfplay.match(LOWEST, SHALLOW, matches=60, opening_plies=2)
    assert caplog.messages[0].startswith(OPENINGS)
    caplog.clear()
    from_start = selfplay.match(LOWEST, SHALLOW, matches=60, opening_plies=0)
    assert caplog.messages == [COPIES]
    assert max(from_start) >= 30
    caplog.clear()
    # Players that draw random numbers begin at the initial position, and equal matches are samples.
    assert selfplay.match("random", LOWEST, matches=60).wins == 0
    # Two matches cannot be copies, because each player moves first in one of them.
    selfplay.match(LOWEST, SHALLOW, matches=2)
    assert not caplog.messages


@pytest.mark.parametrize(("overrides", "expected"), [((), [OPENINGS, "only 54 of"]), (("opening_plies=0",), [COPIES])])
def test_a_series_says_that_players_repeat_themselves(
    overrides: tuple[str, ...], expected: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "selfplay")
    play_match_series(settings_for(tmp_path, f"first='{LOWEST}'", f"second='{SHALLOW}'", "matches=60", *overrides))
    said = [message for message in caplog.messages if not message.startswith("match ")]
    assert [message[: len(text)] for message, text in zip(said, expected, strict=True)] == expected


def test_matches_tried_for_repeats_are_counted_once(tmp_path: Path) -> None:
    wanted = ("second=perfect", "matches=40", "report_every=3")
    tried = play_match_series(settings_for(tmp_path, *wanted))
    assert tried == play_match_series(settings_for(tmp_path, *wanted, "opening_plies=0"))
