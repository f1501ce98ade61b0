"""Engines of others as players: what they are told, the matches they lose by a fault, and that none is left over."""

import logging
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from selfplay.arena import play_matches
from selfplay.classical_settings import MatchSettings, TournamentSettings
from selfplay.comparison import tally_matches
from selfplay.console import Console
from selfplay.errors import ForfeitError, NotNowError, SettingError, StageError
from selfplay.games import make_game
from selfplay.gtp.process import FOLDERS
from selfplay.matches import play_named_matches
from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer
from selfplay.players.gtp import GtpPlayer
from selfplay.players.naming import make_player, parse_name
from selfplay.players.random import RandomPlayer
from selfplay.session import Session
from selfplay.settings import compose_settings_of
from selfplay.tournament import play_tournament, tournament_report
from tests.runs import PROJECT, run_forked
from tests.stub_players import Drawing, FirstLegal, Learning

GAME = make_game("tictactoe")
FAKE = PROJECT / "tests" / "gtp" / "fake_engine.py"
RHINO = shutil.which("gtp-rhino", path=os.pathsep.join([os.environ["PATH"], *FOLDERS]))
KEY = 5


def command(folder: Path, fault: str = "", at: int = 0) -> str:
    return f"{sys.executable} {FAKE} {folder}" + (f" {fault} {at}" if fault else "")


def fake(folder: Path, fault: str = "", at: int = 0, time_limit: float = 60.0) -> GtpPlayer:
    """The fake engine, which plays as FirstLegal does, but for its fault."""
    return GtpPlayer(GAME, command(folder, fault, at), time_limit=time_limit)


def told(folder: Path) -> list[str]:
    return (folder / "told").read_text().splitlines()


def sequences(players, matches=range(4), game=GAME, **options):
    records = play_matches(game, players, matches, KEY, **options)
    return [(record.action_sequences()[0].tolist(), float(record.returns())) for record in records]


def assert_all_ended(folder: Path) -> None:
    for number in map(int, (folder / "pids").read_text().split()):
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)


# ---------------------------------------------------------------------- the conversation


def test_an_engine_is_told_each_ply_once(tmp_path: Path) -> None:
    player = fake(tmp_path)
    # B2 is the action 4; the engine takes A1, B1 and C1.
    player.follow([4])
    state = GAME.step(GAME.init(), torch.tensor([4]))
    assert player.act(state, None).tolist() == [0]
    state = GAME.step(GAME.step(state, torch.tensor([0])), torch.tensor([8]))
    player.follow([4, 0, 8])
    assert player.act(state, None).tolist() == [1]
    assert told(tmp_path) == [
        *("list_commands", "boardsize 3"),
        *("clear_board", "play B B2", "genmove W", "play B C3", "genmove W"),
    ]
    # Another match, of which it does not know the start.
    player.follow([])
    assert player.act(GAME.init(), None).tolist() == [0]
    assert told(tmp_path)[-2:] == ["clear_board", "genmove B"]
    player.close()
    assert told(tmp_path)[-1] == "quit"
    assert_all_ended(tmp_path)


@pytest.mark.parametrize("opening_plies", [0, 3])
def test_an_engine_plays_the_matches_of_a_player_that_thinks_alike(tmp_path: Path, opening_plies: int) -> None:
    against = Drawing(GAME)
    ours = sequences((FirstLegal(GAME), against), range(6), opening_plies=opening_plies, batch_size=1)
    assert sequences((fake(tmp_path), against), range(6), opening_plies=opening_plies) == ours


def test_one_engine_can_play_both_sides(tmp_path: Path) -> None:
    player = fake(tmp_path)
    assert sequences((player, player), range(2)) == sequences((FirstLegal(GAME),) * 2, range(2), batch_size=1)
    assert "play" not in {line.split()[0] for line in told(tmp_path)}


def test_an_engine_whose_actions_are_replaced_is_told_the_match_anew(tmp_path: Path) -> None:
    exploring = EpsilonGreedyPlayer(GAME, fake(tmp_path), [0.5])
    same = EpsilonGreedyPlayer(GAME, FirstLegal(GAME), [0.5])
    against = RandomPlayer(GAME)
    assert exploring.follows
    assert sequences((exploring, against), range(10)) == sequences((same, against), range(10), batch_size=1)


@pytest.mark.parametrize("passes", ["skip", "send"])
def test_our_own_engine_plays_the_match_that_its_player_plays(passes: str) -> None:
    """Othello 4x4 has many passes."""
    game, name = make_game("othello_4x4"), "search:negascout?depth=2&evaluation=discs"
    own = f"{sys.executable} {PROJECT / 'play' / 'gtp.py'} game=othello_4x4 player={name} rows=bottom"
    engine = make_player(f"gtp:{own}?rows=bottom&passes={passes}", game, ".")
    direct, against = make_player(name, game, "."), RandomPlayer(game)
    through = sequences((engine, against), range(10), game, opening_plies=2)
    assert through == sequences((direct, against), range(10), game, opening_plies=2, batch_size=1)
    assert any(game.pass_action in actions for actions, _ in through)


# ---------------------------------------------------------------------- faults

FAULTS = {
    "crash": "it ended with exit code 3: out of luck",
    "hush": "it closed its output",
    "stall": "it did not answer 'genmove B' within 0.5 seconds",
    "cheat": "it played A1, which is not legal",
    "refuse": "it answered 'genmove B' with the error 'no idea'",
    "babble": "'hello' is no answer of the protocol",
    "resign": "it resigned",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_loses_the_match_at_hand_and_no_other(tmp_path: Path, fault: str, caplog) -> None:
    caplog.set_level(logging.INFO, logger="selfplay")
    player = fake(tmp_path, fault, at=6, time_limit=0.5)
    lines = list(play_matches(GAME, (player, FirstLegal(GAME)), range(4), KEY, alternate=False))
    player.close()
    # Against FirstLegal, who moves first takes A1 C1 B2 A3 and has won in the seventh ply. The fault is at its second
    # move of the second match.
    results = [(float(record.returns()), len(record.actions)) for record in lines]
    assert results == [(1.0, 7), (-1.0, 2), (1.0, 7), (1.0, 7)]
    (forfeit,) = lines[1].forfeits
    assert (forfeit.match, forfeit.player) == (1, 0)
    assert forfeit.reason == f"{player.name} forfeits: {FAULTS[fault]}"
    assert [record.message for record in caplog.records] == [f"match 1: {forfeit.reason}"]
    assert lines[1].states[-1].terminated.all()
    assert not any(record.forfeits for record in (lines[0], *lines[2:]))
    assert len((tmp_path / "pids").read_text().split()) == 2
    assert_all_ended(tmp_path)


def test_forfeits_are_counted_for_who_did_it(tmp_path: Path) -> None:
    tally = tally_matches(GAME, (FirstLegal(GAME), fake(tmp_path, "crash", 6)), 8, KEY, 100)
    assert (tally.forfeits, tally.opponent_forfeits, tally.matches) == (0, 1, 8)
    settings = compose_settings_of(
        MatchSettings, "matches", ["first=random", "matches=6", f"second='gtp:{command(tmp_path, 'cheat', 6)}'"]
    )
    (tmp_path / "done").unlink()
    results = play_named_matches(settings)
    assert (results.forfeits, results.matches) == (1, 6)
    assert str(results).endswith(" forfeits=1")


def test_a_learner_is_not_shown_a_forfeited_match(tmp_path: Path) -> None:
    learner = Learning(GAME)
    list(play_matches(GAME, (fake(tmp_path, "cheat", 3), learner), range(3), KEY))
    assert [match for match, *_ in learner.seen] == [1, 2]


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


@pytest.mark.parametrize("options", [{"time_limit": 0.0}, {"time_limit": float("nan")}, {"rows": "x"}, {"passes": "x"}])
def test_options_out_of_range_are_refused(options) -> None:
    with pytest.raises(SettingError, match=next(iter(options))):
        GtpPlayer(GAME, "cat", **options)


# ---------------------------------------------------------------------- nothing is left over


def test_an_engine_that_will_not_end_is_killed_with_what_it_started(tmp_path: Path) -> None:
    stubborn = tmp_path / "stubborn.sh"
    stubborn.write_text(
        f"trap '' TERM\necho $$ > {tmp_path}/pids\n{sys.executable} {FAKE} {tmp_path} stall 1; sleep 9\n"
    )
    player = GtpPlayer(GAME, f"bash {stubborn}", time_limit=0.3)
    with pytest.raises(ForfeitError, match=r"within 0\.3 seconds"):
        player.act(GAME.init(), None)
    deadline = time.monotonic() + 5
    numbers = (tmp_path / "pids").read_text().split()
    assert len(numbers) == 2
    # The engine's own child has no parent left but the system's, which may take a moment to bury it.
    while time.monotonic() < deadline and any(_is_alive(number) for number in numbers):
        time.sleep(0.05)
    assert not any(_is_alive(number) for number in numbers)


def _is_alive(number: str) -> bool:
    status = Path(f"/proc/{number}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_forgotten_player_leaves_no_process(tmp_path: Path) -> None:
    fake(tmp_path)
    assert_all_ended(tmp_path)


def test_a_program_that_ends_with_an_error_leaves_no_process(tmp_path: Path) -> None:
    script = PROJECT / "train" / "play_matches.py"
    stalling = command(tmp_path, "stall", 1)
    result = run_forked(script, f"first=gtp:{stalling}", "second=level:3", f"run_dir={tmp_path}")
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert_all_ended(tmp_path)


# ---------------------------------------------------------------------- sessions, tournaments, names


def test_in_a_session_what_is_taken_back_is_told_anew(tmp_path: Path) -> None:
    session = Session(GAME, (None, fake(tmp_path)), KEY)
    session.play(4)
    assert session.advance().action == 0
    session.undo()
    session.play(0)
    assert session.advance().action == 1
    assert told(tmp_path)[2:] == ["clear_board", "play B B2", "genmove W", "clear_board", "play B A1", "genmove W"]


def test_a_fault_ends_the_match_of_a_session(tmp_path: Path) -> None:
    session = Session(GAME, (None, fake(tmp_path, "cheat", 2)), KEY)
    session.play(4)
    session.advance()
    session.play(8)
    with pytest.raises(ForfeitError, match="not legal"):
        session.advance()
    assert (session.is_over, session.winner, session.result_text) == (True, 0, "X wins.")
    assert (session.results.first, session.results.forfeits) == (1, 1)
    session.undo()
    assert not session.is_over
    session.new_match()
    session.play(4)
    assert session.advance().action == 0


def test_the_console_tells_of_a_fault(tmp_path: Path) -> None:
    answers, shown = iter(["5", "quit"]), []
    session = Session(GAME, (None, fake(tmp_path, "refuse", 1)), KEY)
    Console(session, lambda prompt: next(answers), shown.append, asks_who_is_first=False).play()
    text = "\n".join(shown)
    assert "forfeits: it answered 'genmove W' with the error 'no idea'." in text
    assert "You win." in text


def test_a_tournament_grades_whom_it_can_and_tells_of_forfeits(tmp_path: Path, caplog) -> None:
    caplog.set_level(logging.INFO, logger="selfplay")
    name = f"gtp:{command(tmp_path, 'cheat', 3)}"
    overrides = [f"players=[random,perfect,'{name}']", "matches=4", f"run_dir={tmp_path}"]
    tournament = play_tournament(compose_settings_of(TournamentSettings, "tournament", overrides))
    assert list(tournament.exact) == [(0, 1)]
    assert [grade is None for grade in tournament.grades] == [False, False, True]
    assert f"{name} follows its matches, so it is not graded exactly" in caplog.messages
    assert tournament_report(tournament).endswith(f"\n\n{name} forfeited 1 of its losses against random")
    assert tournament.tallies[0, 2].opponent_forfeits == 1


def test_an_engine_cannot_be_asked_about_positions(tmp_path: Path) -> None:
    player = fake(tmp_path)
    assert player.action_values(GAME.init()) is None
    with pytest.raises(NotNowError, match="plays matches"):
        player.policy(GAME.init())
    with pytest.raises(ValueError, match="one at a time"):
        next(iter([_play_two(player)]))


def _play_two(player: GtpPlayer) -> None:
    from selfplay.arena import play_batch

    play_batch(GAME, (player, player), torch.arange(2), torch.zeros(2, dtype=torch.int8), KEY)


@pytest.mark.parametrize(
    ("text", "what", "options"),
    [
        ("gtp:gtp-rhino -l 2", "gtp-rhino -l 2", {}),
        ("gtp:gtp-rhino -l 2?time_limit=5", "gtp-rhino -l 2", {"time_limit": "5"}),
        ("gtp:a player=level:3?depth=2", "a player=level:3?depth=2", {}),
        ("gtp:a b=c?depth=2?time_limit=5&rows=top", "a b=c?depth=2", {"time_limit": "5", "rows": "top"}),
        ("gtp:a?epsilon=0.1", "a", {"epsilon": "0.1"}),
    ],
)
def test_a_command_may_hold_a_question_mark(text: str, what: str, options: dict[str, str]) -> None:
    name = parse_name(text)
    assert (name.kind, name.what, name.options) == ("gtp", what, options)


# ---------------------------------------------------------------------- an engine of others


@pytest.mark.skipif(RHINO is None, reason="gtp-rhino is not installed (Debian's package grhino)")
def test_gtp_rhino_plays_whole_matches_by_the_rules() -> None:
    game = make_game("othello")
    players = make_player("search:negascout?depth=2", game, "."), make_player("gtp:gtp-rhino -l 1", game, ".")
    for record in play_matches(game, players, range(2), KEY, opening_plies=4):
        assert record.forfeits == ()
        state = game.init()
        for action in record.actions:
            state = game.step(state, action)
        assert bool(state.terminated)


@pytest.mark.skipif(RHINO is None, reason="gtp-rhino is not installed (Debian's package grhino)")
def test_gtp_rhino_keeps_the_conventions_that_the_docs_tell() -> None:
    dialogue = "boardsize 8\nplay B e3\nplay B d3\nplay W pass\ngenmove B\nlist_games\nquit\n"
    result = subprocess.run([RHINO, "-l", "1"], input=dialogue, capture_output=True, text=True, check=False, timeout=60)
    assert re.split(r"\n+", result.stdout.strip()) == [
        "=",
        "? illegal move",
        "=",
        "? syntax error",
        "= pass",
        "= Othello",
        "=",
    ]
