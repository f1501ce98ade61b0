"""The words of a comparison."""

import os
import shlex
import sys
from pathlib import Path

import pandas as pd
import pytest

from selfplay.cli.command import overrides_first
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.games import make_game
from selfplay.games.position_graph import enumerate_positions
from selfplay.grading.comparison import Comparison
from selfplay.grading.proof import Grader, Lines
from selfplay.grading.proof_text import count_text, is_unbeatable, lines_verdict, unbeatable_seats
from selfplay.matches.result_counts import Tally, tally_matches
from selfplay.players.random import RandomPlayer
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.folders import PROJECT_FOLDER
from selfplay.settings.playing import PlaySettings
from selfplay.settings.run import compose_settings
from selfplay.stages.compare import draw_line, how_to_play, verdict
from tests.grading.test_proof import lowest_action_player, perfect_player


def comparison_of(game_name: str, make_player) -> Comparison:
    game = make_game(game_name)
    grader = Grader(enumerate_positions(game))
    grades = {0: grader.grade(RandomPlayer(game)), 1: grader.grade(make_player(grader))}
    return Comparison(game, pd.DataFrame({"level": [0, 1]}), grades, grader)


def test_a_player_that_cannot_lose_is_said_to_be_proved() -> None:
    text = verdict(comparison_of("tictactoe", perfect_player))
    assert text.startswith("Level 1 cannot lose: all ")
    assert "0.9556" in text
    assert "Levels proved unbeatable: 1." in text


def test_a_player_that_can_lose_is_shown_losing() -> None:
    """The lowest legal action fills the top row for itself, and as second loses to a column after five plies."""
    comparison = comparison_of("tictactoe", lowest_action_player)
    text = verdict(comparison)
    assert text.startswith("Level 1 can lose: of all lines tried it loses ")
    for seat, name in enumerate(("first", "second")):
        assert f"A shortest line that level 1 loses, moving {name}:" in text
        line = comparison.grades[1].shortest_loss[seat]
        final = comparison.game.state_after(map(comparison.game.action_to_string, line))
        assert final.terminated.item()
        assert final.returns.item() == (-1 if seat == 0 else 1)
        assert draw_line(comparison.game, line) in text


def test_a_seat_that_nobody_can_hold_is_not_held_against_the_player() -> None:
    text = verdict(comparison_of("sumto100", perfect_player))
    assert "Level 1 cannot lose moving first: all 1.0 x 10^9 lines tried." in text
    assert "Moving second, every player loses against perfect play." in text
    assert "From all 91 positions that the player to move can win, level 1 plays a winning action." in text


def test_unbeatable_is_who_loses_in_neither_seat():
    held, lost = Lines(0, 10), Lines(1, 10)
    assert [unbeatable_seats(lines) for lines in ((held, held), (held, lost), (lost, lost))] == [(0, 1), (0,), ()]
    assert [is_unbeatable(lines) for lines in ((held, held), (held, lost), (lost, lost))] == [True, False, False]
    assert (
        lines_verdict("It", (lost, held))
        == "It cannot lose moving second: all 10 lines tried. Moving first it loses 1/10."
    )
    assert lines_verdict("It", (held, held)).endswith(": it cannot lose.")
    assert lines_verdict("It", (lost, lost)).endswith(": it can lose.")


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0"), (255168, "255168"), (10**7, "1.0 x 10^7"), (4719438291475839821, "4.7 x 10^18")]
)
def test_counts_are_exact_as_long_as_they_can_be_read(count: int, text: str) -> None:
    assert count_text(count) == text


def test_a_game_too_large_to_enumerate_is_measured_not_proved() -> None:
    comparison = Comparison(make_game("tictactoe"), pd.DataFrame({"level": [0, 3]}), {}, None)
    assert "level 3 is measured, not proved" in verdict(comparison)


def test_a_line_is_drawn_board_beside_board() -> None:
    assert draw_line(make_game("tictactoe"), (4, 0, 2)).splitlines() == [
        "1. 1,1    2. 0,0    3. 0,2",
        ". . .     O . .     O . X",
        ". X .     . X .     . X .",
        ". . .     . . .     . . .",
    ]


@pytest.mark.parametrize(
    ("wins", "losses", "word"),
    [(60, 40, "not told apart"), (65, 35, "better"), (35, 65, "worse"), (0, 0, "not told apart")],
)
def test_the_word_follows_the_sign_test(wins: int, losses: int, word: str) -> None:
    assert Tally(wins, 100, losses, 1).word == word


def test_the_interval_is_wilsons() -> None:
    # Wilson's interval of 10 in 20 at 95 %: 0.2993 to 0.7007.
    assert Tally(10, 0, 10, 1).interval(10) == pytest.approx((0.29929, 0.70071), abs=1e-5)


@pytest.mark.parametrize("wins", [0, 3, 10, 20])
def test_the_interval_of_a_score_without_draws_is_that_of_the_wins(wins):
    tally = Tally(wins, 0, 20 - wins, 1)
    assert tally.score == wins / 20
    assert tally.score_interval() == pytest.approx(tally.interval(wins), abs=1e-12)


def test_a_draw_is_half_a_point():
    assert Tally(5, 10, 5, 1).score == 0.5
    assert Tally(5, 10, 5, 1).score_interval() == pytest.approx(Tally(10, 0, 10, 1).interval(10))


def test_distinct_matches_are_counted_by_actions_and_seats() -> None:
    game = make_game("tictactoe")
    player = lowest_action_player(Grader(enumerate_positions(game)))
    tally = tally_matches(game, (player, lowest_action_player(Grader(enumerate_positions(game)))), 50, 1, 16)
    # Both play the lowest action: X takes 0, 2, 4, 6 and wins on the diagonal; once in either seat.
    assert tally == (25, 0, 25, 2, 0, 0)
    key = stream_key(0, 0, Activity.VERSUS_RANDOM)
    random = tally_matches(game, (RandomPlayer(game), RandomPlayer(game)), 3000, key, 1000)
    assert random.matches == 3000
    assert 2500 < random.distinct <= 3000


# ---------------------------------------------------------------------- how to play


@pytest.mark.parametrize(
    ("overrides", "command"),
    [
        ([], "python play/console.py"),
        (["recipe=article", "levels=3"], "python play/console.py"),
        (["recipe=sumto100"], "python play/console.py game=sumto100"),
        (["run_dir=outputs/try"], "python play/console.py run_dir=outputs/try"),
        (
            ["game=sumto100", "run_dir='my runs/seed=1'"],
            "python play/console.py game=sumto100 'run_dir=my runs/seed=1'",
        ),
        (["run_dir=outputs/tictactoe"], "python play/console.py"),
    ],
)
def test_who_has_learned_is_told_how_to_play(
    monkeypatch: pytest.MonkeyPatch, overrides: list[str], command: str
) -> None:
    monkeypatch.chdir(PROJECT_FOLDER)
    monkeypatch.setattr(sys, "prefix", "elsewhere")
    settings = compose_settings(overrides)
    page = command.replace("console.py", "web.py")
    assert how_to_play(settings) == f"Play against it: {command}   or in a browser: {page}"
    # What it says is what the console reads.
    words = shlex.split(command)
    assert Path(words[1]).exists()
    read = compose_settings_of(PlaySettings, "play", overrides_first(words[2:]))
    assert (read.game, Path(read.run_dir).resolve()) == (settings.game, Path(settings.run_dir).resolve())


def test_the_command_to_play_holds_in_another_folder_and_without_an_active_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "prefix", str(PROJECT_FOLDER / ".venv"))
    project = os.path.relpath(PROJECT_FOLDER)
    text = how_to_play(compose_settings())
    python = f"{project}/.venv/bin/python {project}/play"
    assert text == f"Play against it: {python}/console.py   or in a browser: {python}/web.py"
