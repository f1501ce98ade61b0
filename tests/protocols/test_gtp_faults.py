"""Faults of engines: each loses one match, and no process is left behind."""

import logging
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from selfplay import generate_level, play_matches
from selfplay.compute.random_numbers import Draws
from selfplay.dataset.match_rows import discounted_rows
from selfplay.errors import ForfeitError, SettingError, StageError
from selfplay.games import make_game
from selfplay.games.match import Match
from selfplay.learners.learner import LevelInputs
from selfplay.learners.records import Records
from selfplay.matches.series import Series
from selfplay.playing.result_text import result_of, result_text
from selfplay.playing.session import Session
from selfplay.protocols.gtp.notation import Vertices
from selfplay.protocols.gtp.player import GtpPlayer
from selfplay.records import RecordedResult, read_record_file, record_of, written_record
from selfplay.runs.run_folder import RunFolder
from selfplay.search.deadline import Deadline, StoppedError
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.matches import MatchSettings
from selfplay.stages.play_matches import play_match_series
from tests.support.dataset_tools import read_dataset
from tests.support.gtp_tools import FAKE, GAME, KEY, assert_all_ended, command, fake, told
from tests.support.runs import tiny_settings
from tests.support.stub_players import FirstLegal

# ---------------------------------------------------------------------- faults

FAULTS = {
    "crash": "it ended with exit code 3: out of luck",
    "stall": "it did not answer 'genmove B' within 5 seconds",
    "cheat": "it played A1, which is not legal",
    "babble": "'hello' is not an answer of the protocol",
    "many-lines": "it wrote more than 1 MB to stdout",
    "digits-in-a-vertex": f"'A{'9' * 76}...' is not a vertex of a board of 3x3",
}


@pytest.mark.parametrize(
    "fault", [pytest.param(fault, marks=[pytest.mark.slow] * (fault == "stall")) for fault in FAULTS]
)
def test_a_fault_loses_the_current_match_and_no_other(tmp_path: Path, fault: str, caplog) -> None:
    caplog.set_level(logging.INFO, logger="selfplay")
    player = fake(tmp_path, fault, at=6, time_limit=5 if fault == "stall" else 60)
    lines = list(play_matches(GAME, (player, FirstLegal(GAME)), range(4), KEY, alternate=False))
    player.close()
    # Against FirstLegal, who moves first takes A1 C1 B2 A3 and has won in the seventh ply. The fault is at its second
    # move of the second match.
    results = [(float(record.returns()), len(record.actions)) for record in lines]
    assert results == [(1.0, 7), (-1.0, 2), (1.0, 7), (1.0, 7)]
    (forfeit,) = lines[1].forfeits
    assert (forfeit.match, forfeit.player) == (1, 0)
    assert forfeit.reason == f"{player.name} forfeits: {FAULTS[fault]}"
    assert [record.message for record in caplog.records] == [f"match 2: {forfeit.reason}"]
    assert lines[1].states[-1].terminated.all()
    assert not any(record.forfeits for record in (lines[0], *lines[2:]))
    assert len((tmp_path / "pids").read_text().split()) == 2
    assert_all_ended(tmp_path)


def test_forfeits_are_counted_by_player(tmp_path: Path) -> None:
    result = Series(range(8), KEY).play(GAME, (FirstLegal(GAME), fake(tmp_path, "crash", 6)))
    assert (result.forfeits, result.opponent_forfeits, result.results.matches) == (0, 1, 8)
    settings = compose_settings_of(
        MatchSettings, "matches", ["first=random", "matches=6", f"second='gtp:{command(tmp_path, 'cheat', 6)}'"]
    )
    (tmp_path / "done").unlink()
    results = play_match_series(settings)
    assert (results.forfeits, results.matches) == ((0, 1), 6)
    assert results.text(("random", "it"), by_player=True).endswith(", by forfeit 1")


def test_a_match_that_is_forfeited_before_its_first_ply_is_counted_and_shown(tmp_path: Path, caplog) -> None:
    caplog.set_level(logging.INFO, logger="selfplay")
    first = f"'gtp:{command(tmp_path, 'cheat', 1)}'"
    chosen = [f"first={first}", "second=random", "matches=2", "show=true", "opening_plies=0"]
    results = play_match_series(compose_settings_of(MatchSettings, "matches", chosen))
    assert (results.forfeits, results.by_player.losses, results.matches) == ((1, 0), 1, 2)
    shown = next(record.message for record in caplog.records if record.message.startswith("match 1, "))
    assert shown.splitlines()[1:] == ["O wins"]
    (tmp_path / "done").unlink()
    player = fake(tmp_path, "resign", 1)
    (record,) = play_matches(GAME, (player, FirstLegal(GAME)), range(1), KEY)
    player.close()
    assert record.action_sequences().shape == (1, 0)
    assert len(discounted_rows(GAME, record).match) == 0


def test_an_engine_that_resigns_plays_the_next_match_and_its_match_can_be_learned_from(tmp_path: Path) -> None:
    player = fake(tmp_path, "resign", at=6)
    lines = list(play_matches(GAME, (player, FirstLegal(GAME)), range(4), KEY, alternate=False))
    player.close()
    assert [(float(record.returns()), len(record.actions)) for record in lines] == [(1, 7), (-1, 2), (1, 7), (1, 7)]
    assert [forfeit.reason for record in lines for forfeit in record.forfeits] == [f"{player.name} resigns"]
    assert len((tmp_path / "pids").read_text().split()) == 1
    (tmp_path / "done").unlink()
    chosen = ["game=go_3x3", f"first='gtp:{command(tmp_path, 'resign', 2)}'", "second=random", "matches=1"]
    chosen += ["opening_plies=0", f"sgf={tmp_path}"]
    results = play_match_series(compose_settings_of(MatchSettings, "matches", chosen))
    assert (results.forfeits, results.text(("it", "random"))[-15:]) == ((0, 0), "drawn 0 (0.000)")
    record = read_record_file(tmp_path / "match_000001.sgf")
    assert (record.result, len(record.match.actions)) == (RecordedResult(-1, "R"), 2)
    (rows,) = Records(files=[str(tmp_path / "*.sgf")]).generate(LevelInputs(make_game("go_3x3")), range(1))
    assert rows.target.tolist() == [-1, 1]


def test_a_dataset_has_no_rows_of_forfeited_matches(tmp_path: Path) -> None:
    engine, folder = f"'gtp:{command(tmp_path, 'cheat', 4)}'", RunFolder(tmp_path / "run")
    generate_level(tiny_settings(folder.path, "matches=4", f"opponent={engine}"), 0)
    rows = read_dataset(folder.dataset(0), GAME.observation_codec)
    assert len({*rows.match}) == 3


def test_a_resigned_match_of_othello_is_written_as_such() -> None:
    game = make_game("othello")
    lost = Match(game).lost_by(0, has_resigned=True)
    assert "RE[-64:r]" in written_record(record_of(lost, ("black", "white"))).text
    assert result_text(game, result_of(lost)) == "White wins."


def test_an_engine_that_does_not_start_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"gtp:nothing-like-it -x: no program 'nothing-like-it' .* install"):
        GtpPlayer(GAME, "nothing-like-it -x")
    with pytest.raises(SettingError, match="no program ''"):
        GtpPlayer(GAME, "")
    with pytest.raises(SettingError, match="quotation"):
        GtpPlayer(GAME, "cat '")
    with pytest.raises(StageError, match=r"gtp:false: it ended with exit code 1; .* GTP"):
        GtpPlayer(GAME, "false")
    (tmp_path / "empty").write_text("no program\n")
    (tmp_path / "empty").chmod(0o755)
    with pytest.raises(StageError, match="cannot be started"):
        GtpPlayer(GAME, str(tmp_path / "empty"))
    with pytest.raises(
        StageError, match=r"'boardsize 3' with the error 'unacceptable size'; it must play Tic-tac-toe$"
    ):
        GtpPlayer(GAME, command(tmp_path, "one-size", 1))


def test_an_engine_without_the_command_komi_plays_and_the_log_says_so(tmp_path: Path, caplog) -> None:
    caplog.set_level(logging.INFO, logger="selfplay")
    player = GtpPlayer(make_game("go_3x3"), command(tmp_path))
    player.close()
    assert told(tmp_path) == ["list_commands", "boardsize 3", "quit"]
    assert [record.message for record in caplog.records] == [
        f"{player.name} has no command komi; it may count with another komi than 7.5"
    ]


# ---------------------------------------------------------------------- nothing is left over


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads the states of processes in /proc")
def test_an_engine_that_does_not_end_is_killed_with_its_children(tmp_path: Path) -> None:
    stubborn = tmp_path / "stubborn.sh"
    stubborn.write_text(
        f"trap '' TERM\necho $$ > {tmp_path}/pids\n{sys.executable} {FAKE} {tmp_path} stall 1; sleep 30\n"
    )
    # When it has been made, the child has started and answered.
    player = GtpPlayer(GAME, f"bash {stubborn}", time_limit=1)
    with pytest.raises(ForfeitError, match=r"within 1 seconds"):
        player.act(GAME.init(), None)
    deadline = time.monotonic() + 60
    numbers = (tmp_path / "pids").read_text().split()
    assert len(numbers) == 2
    # The engine's child is now a child of init, which may take a moment to reap it.
    while time.monotonic() < deadline and any(_is_alive(number) for number in numbers):
        time.sleep(0.05)
    assert not any(_is_alive(number) for number in numbers)


@pytest.mark.slow
def test_an_engine_is_ended_when_nobody_waits_for_its_answer_any_more(tmp_path: Path) -> None:
    player, deadline = fake(tmp_path, "stall", at=1), Deadline()

    def leave() -> None:
        while not (tmp_path / "done").exists():
            time.sleep(0.01)
        deadline.cancel()

    threading.Thread(target=leave).start()
    with deadline.applied(), pytest.raises(StoppedError):
        player.act(GAME.init(), Draws(KEY, torch.tensor([0]), 0))
    assert_all_ended(tmp_path)
    # The next match starts it again.
    assert int(player.act(GAME.init(), Draws(KEY, torch.tensor([0]), 0))) in range(9)


def _is_alive(number: str) -> bool:
    status = Path(f"/proc/{number}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


# ---------------------------------------------------------------------- how they are reported


def test_a_fault_ends_the_match_of_a_session(tmp_path: Path) -> None:
    session = Session(GAME, (None, fake(tmp_path, "cheat", 2)), KEY)
    session.play(4)
    session.advance()
    session.play(8)
    with pytest.raises(ForfeitError, match="not legal"):
        session.advance()
    assert (session.is_over, session.match.winner, session.result_text) == (True, 0, "You win.")
    assert (session.results.by_player, session.results.forfeits) == ((1, 0, 0), (0, 1))
    session.undo()
    assert not session.is_over
    session.new_match()
    session.play(4)
    assert session.advance().action == 0


def test_a_board_with_more_columns_than_letters_is_refused_in_one_line() -> None:
    presentation = SimpleNamespace(is_rhombus=False, pointed_squares=lambda action: [action], row_names="321")
    shape = {"board_shape": (26, 26), "num_distinct_actions": 26**2, "any_pass": None}
    game = cast(Any, SimpleNamespace(name="wide", presentation=presentation, **shape))
    with pytest.raises(SettingError, match=r"^game=wide: the Go Text Protocol has letters for at most 25 columns$"):
        Vertices(game)
