"""selfplay check-game: a game of one's own is accepted or refused in words."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from selfplay.errors import SettingError
from selfplay.games import make_game
from selfplay.games.conformance import counts_of_sequences
from selfplay.named_players.make import make_player
from tests.support.rejections import assert_refused
from tests.support.runs import PROJECT, run_forked

COMMAND = PROJECT / "selfplay" / "__main__.py"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The game of docs/adding_a_game.md; the current folder is an empty one."""
    monkeypatch.chdir(tmp_path)
    page = (PROJECT / "docs" / "adding_a_game.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    return next(block for block in blocks if "class Connect3(Game)" in block)


def test_a_game_in_a_file_of_the_current_folder_is_accepted_with_its_counts(source: str) -> None:
    Path("connect3.py").write_text(source)
    result = run_forked(COMMAND, "check-game", "game=connect3:Connect3")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("connect3:Connect3: accepted: legality, perspective, symmetries")
    assert "sequences of 1 to 5 plies: 3 9 27 81 240;" in result.stdout
    assert "symmetries: 2, found" in result.stdout
    assert "who moves first at random wins 58.2 % of them, draws 7.0 % and loses 34.8 %" in result.stdout
    assert "rules in JavaScript, for exported pages: agree in random matches" in result.stdout
    refused = run_forked(COMMAND, "check-game", "game=connect3:Connect3", "perft=[3,9,28]")
    assert_refused(refused, 1, "connect3:Connect3: perft: depth 3 counts 27 sequences, not 28")


def test_a_game_with_a_mistake_is_refused_with_the_mistake(source: str) -> None:
    wrong = source.replace("max_game_length = SQUARES", "max_game_length = SQUARES - 2")
    assert wrong != source
    # Another test of this process may have imported connect3.
    Path("short_connect3.py").write_text(wrong)
    refused = run_forked(COMMAND, "check-game", "game=short_connect3:Connect3")
    assert_refused(refused, 1, "short_connect3:Connect3: ends: a match is longer than max_game_length=10")


@pytest.mark.slow
def test_without_compiled_code_a_debugger_stops_in_rules(source: str) -> None:
    stopping = source.replace("    stones, square =", "    breakpoint()\n    stones, square =")
    assert stopping != source
    Path("debugged_connect3.py").write_text(stopping)
    Path("debugger.py").write_text("import sys\ndef stop():\n    print('at', sys._getframe(1).f_locals['p'].own)\n")
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONBREAKPOINT": "debugger.stop", "PYTHONPATH": "."}
    players = ["first=random", "second=search:negascout?depth=2"]
    command = [sys.executable, COMMAND, "play-matches", "game=debugged_connect3:Connect3", "matches=1", *players]
    played = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert (played.returncode, played.stderr) == (0, "")
    assert "at WordInt(0, 1)" in played.stdout


def test_what_needs_compiled_code_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfplay.compute.compilation.IS_UNCOMPILED", True)
    with pytest.raises(SettingError, match=r"^NUMBA_DISABLE_JIT is set: solvers of positions run only with compiled"):
        make_player("perfect", "othello_4x4")


def test_a_file_without_a_game_is_refused_in_one_line(source: str) -> None:
    for name, text, *reasons in (
        ("wrong_syntax", "x =", "cannot be imported: invalid syntax", "wrong_syntax.py, line 1)"),
        ("divides", "1 / 0", "cannot be imported: ZeroDivisionError: division by zero", "divides.py, line 1)"),
        ("other_class", "Game = int", "is not a subclass of selfplay.games.Game"),
    ):
        Path(f"{name}.py").write_text(text)
        assert_refused(run_forked(COMMAND, "check-game", f"game={name}:Game"), 2, f"{name}:Game", *reasons)


def test_few_plies_are_counted_in_a_game_with_many_actions():
    assert counts_of_sequences(make_game("gomoku")) == [81, 81 * 80, 81 * 80 * 79, 81 * 80 * 79 * 78]
