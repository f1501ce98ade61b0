"""Series of matches between named players: counts by player and seat, learning players, the program."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

import selfplay
from selfplay.games import make_game
from selfplay.games.state import MatchRecord
from selfplay.games.win_draw_loss import RunningResults, total, wilson_interval
from selfplay.grading.tables import result_fields
from selfplay.learners.experience.store import ExperienceStore
from selfplay.matches import series
from selfplay.matches.arena import play_matches
from selfplay.matches.series import count_matches, play_match_series
from selfplay.named_players.names import make_player
from selfplay.players.random import RandomPlayer
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.matches import MatchSettings
from tests.support.runs import COMMAND, run_forked

GAME = make_game("tictactoe")


class Learner(RandomPlayer):
    """Plays at random and records the matches that it is shown."""

    name = "learner"

    def __init__(self) -> None:
        super().__init__(GAME)
        self.seen: list[tuple[int, tuple[int, ...], list[int]]] = []

    def act(self, state, draws):
        # One match at a time, and all earlier ones have been shown.
        assert draws.match.tolist() == [len(self.seen)]
        return super().act(state, draws)

    def after_match(self, record: MatchRecord, seats: tuple[int, ...]) -> None:
        self.seen.append((int(record.match), seats, record.action_sequences()[0].tolist()))

    def matches_seen(self) -> int:
        return len(self.seen)


def test_a_learner_is_shown_every_match_before_the_next_begins() -> None:
    learner = Learner()
    records = list(play_matches(GAME, (RandomPlayer(GAME), learner), range(6), 3))
    assert [number for number, _, _ in learner.seen] == list(range(6))
    assert [seats for _, seats, _ in learner.seen] == [(1,), (0,)] * 3
    assert [actions for _, _, actions in learner.seen] == [r.action_sequences()[0].tolist() for r in records]
    # The matches are those of players that do not learn.
    whole = next(play_matches(GAME, (RandomPlayer(GAME), RandomPlayer(GAME)), range(6), 3))
    assert torch.equal(torch.cat([record.returns() for record in records]), whole.returns())


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
    assert total(part.by_player for part in parts) == whole.by_player
    assert total(part.by_seat for part in parts) == whole.by_seat
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


def test_where_there_is_no_bar_lines_say_how_many_pairs_are_left_and_how_long_they_take(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock = iter(range(0, 1000, 90))
    monkeypatch.setattr(series, "monotonic", lambda: next(clock))
    pairs = SimpleNamespace(map=lambda play, tasks, files: iter(tasks))
    with caplog.at_level("INFO", logger="selfplay"):
        assert series.play_pairs(["a", "b", "c"], pairs, description="comparing levels") == ["a", "b", "c"]
    assert caplog.messages == [
        "comparing levels: 1 of 3 pairs, about 3 min left",
        "comparing levels: 2 of 3 pairs, about 2 min left",
    ]


@pytest.mark.parametrize(("seconds", "played"), [(10, 60), (0.5, 32), (0.001, 2)])
def test_a_pair_plays_the_first_matches_that_fit_into_its_time(
    seconds: float, played: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each match takes 1/64 s."""
    time = [0.0]

    def play(game, players, part, key, **options):
        time[0] += len(part) / 64
        return play_matches(game, players, part, key, **options)

    monkeypatch.setattr(series, "monotonic", lambda: time[0])
    monkeypatch.setattr(series, "play_matches", play)
    players = (RandomPlayer(GAME), RandomPlayer(GAME))
    limited = count_matches(GAME, players, 60, 5, None, 2, seconds=seconds)
    assert limited == count_matches(GAME, players, played, 5, None, 2)


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


def test_copies_narrow_no_interval_and_decide_no_test() -> None:
    players = make_player(LOWEST, GAME), make_player(SHALLOW, GAME)
    copied = count_matches(GAME, players, 60, 5, None)
    fields = result_fields(copied)
    assert (copied.distinct, copied.results.matches, copied.evidence.matches) == (2, 60, 2)
    assert (fields["wins_rate_low"], fields["wins_rate_high"]) == wilson_interval(copied.evidence.wins, 2)
    assert fields["word"] == "not told apart"
    opened = count_matches(GAME, players, 600, 5, None, 2)
    # There are 72 openings of two plies, played from both sides.
    assert opened.evidence.matches == opened.distinct <= 144
    sampled = count_matches(GAME, (RandomPlayer(GAME), players[0]), 600, 5, None)
    assert sampled.distinct < 600 == sampled.evidence.matches


@pytest.mark.parametrize(("overrides", "expected"), [((), [OPENINGS, "only 54 of"]), (("opening_plies=0",), [COPIES])])
def test_a_series_says_that_players_repeat_themselves(
    overrides: tuple[str, ...], expected: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "selfplay")
    play_match_series(settings_for(tmp_path, f"first='{LOWEST}'", f"second='{SHALLOW}'", "matches=60", *overrides))
    said = [message for message in caplog.messages if not message.startswith("match ")]
    assert [message[: len(text)] for message, text in zip(said, expected, strict=True)] == expected


def test_matches_tried_for_repeats_are_not_played_twice(tmp_path: Path) -> None:
    wanted = ("second=perfect", "matches=40", "report_every=3")
    tried = play_match_series(settings_for(tmp_path, *wanted))
    assert tried == play_match_series(settings_for(tmp_path, *wanted, "opening_plies=0"))
    numbers: list[int] = []

    class Counting(RandomPlayer):
        def act(self, state, draws):
            numbers.extend(draws.match.tolist() if draws.ply == 0 else ())
            return super().act(state, draws)

    player = Counting(GAME)
    count_matches(GAME, (player, player), 20, 3, None, None)
    assert numbers == list(range(20))
