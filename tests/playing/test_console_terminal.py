"""The console in a real terminal, against each kind of classical learner: colour, Ctrl-C and Ctrl-D."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pexpect
import pytest

from selfplay.settings.classical import TabularSettings
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.run import Run
from selfplay.stages.train_tabular import train_tabular
from tests.support.runs import COMMAND, CONSOLE, run_forked
from tests.support.terminal import Terminal

PATIENCE = 60
FIRST = "Do you want to go first? [Y/n] "
ACTION = re.compile(r"Your action( \(.*\))?: ")
AGAIN = "Play again? [Y/n] "


@contextmanager
def console(run_dir: Path, *arguments: str, **variables: str) -> Iterator["pexpect.spawn[str]"]:
    """The console in a terminal of its own, which must have ended well when the block does."""
    with in_terminal(CONSOLE, *arguments, f"run_dir={run_dir}", **variables) as terminal:
        yield terminal


@contextmanager
def in_terminal(script: Path, *arguments: str, **variables: str) -> Iterator["pexpect.spawn[str]"]:
    """A script in a terminal of its own, which must have ended well when the block does."""
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    environment |= {"TERM": "xterm", **variables}
    terminal = Terminal(script, *arguments, env=environment, timeout=PATIENCE)
    try:
        yield terminal
        terminal.expect(pexpect.EOF)
        assert "Traceback" not in terminal.before
        assert "error" not in terminal.before
        terminal.close()
        assert (terminal.exitstatus, terminal.signalstatus) == (0, None)
    finally:
        terminal.close(force=True)


def asked(terminal: "pexpect.spawn[str]", prompt: str | re.Pattern[str]) -> str:
    """What stands on the terminal since the last question, up to this one, with plain line ends."""
    terminal.expect(prompt if isinstance(prompt, re.Pattern) else re.escape(prompt))
    return terminal.before.replace("\r\n", "\n")


def interrupt(terminal: "pexpect.spawn[str]", expected: str | type[pexpect.EOF]) -> None:
    """Press Ctrl-C, and wait for the prompt or the end that follows.

    Python misses a Ctrl-C that arrives after it has written a prompt and before it waits for the line, which happens on
    a busy computer; so it is pressed again.
    """
    for patience in (15, 15, PATIENCE):
        terminal.sendintr()
        if terminal.expect_exact([expected, pexpect.TIMEOUT], timeout=patience) == 0:
            return
    pytest.fail("Ctrl-C had no effect")


def table(run_dir: Path, rule: str, *overrides: str) -> Path:
    return train_tabular(
        Run.of(compose_settings_of(TabularSettings, "tabular", [f"agent={rule}", f"run_dir={run_dir}", *overrides]))
    )


def test_a_table_with_backward_updates_explores_and_learns_from_a_person(tmp_path: Path) -> None:
    path = table(tmp_path, "backward_value", "episodes=3000", "epsilon=0.1", "alpha=0.5")
    before = path.read_bytes()
    with console(tmp_path, "opponent=tabular:backward_value", "verbose=true", "board=boxed", NO_COLOR="1") as terminal:
        asked(terminal, FIRST)
        terminal.sendline("n")
        shown = asked(terminal, ACTION)
        assert "\n  -------------\n0 |   |" in shown
        assert re.search(
            r"It plays \d,\d (greedily|at random), value \+\d\.\d\d\.\nBoard number [\d,]+ of 3\^9\.", shown
        )
        assert path.read_bytes() == before
        for key in "123456789" * 2:
            terminal.sendline(key)
            if terminal.expect([ACTION, re.escape(AGAIN)]) == 1:
                break
        assert "backward_value has learned from 1 match against others" in terminal.before
        terminal.sendline("n")
    learned = path.read_bytes()
    assert learned != before
    with console(tmp_path, "opponent=tabular:backward_value?epsilon=0&learn=false") as terminal:
        asked(terminal, FIRST)
        terminal.sendline("n")
        assert "greedily" in asked(terminal, ACTION)
        terminal.sendline("quit")
    assert path.read_bytes() == learned


def test_the_menu_of_the_experience_graph_in_a_terminal(tmp_path: Path) -> None:
    menu = "Choose 1, 2 or 3 (quit leaves): "
    with in_terminal(COMMAND, "play-experience", "pause=0.01", "matches=2", f"run_dir={tmp_path}") as terminal:
        assert "The experience graph knows 0 boards." in asked(terminal, menu)
        terminal.sendline("2")
        shown = asked(terminal, menu)
        assert "Tic-tac-toe, X: random, O: experience (Ctrl-C returns to the menu)" in shown
        assert "plays 5" in shown or "plays 1" in shown or "plays 9" in shown
        assert ": at random, because it knows no board after this one." in shown
        assert len(re.findall(r"^match \d: X won", shown, re.MULTILINE)) == 2
        assert not re.search("The experience graph knows 0 boards", shown)
        terminal.sendline("1")
        asked(terminal, FIRST)
        terminal.sendline("y")
        asked(terminal, ACTION)
        terminal.sendline("graph")
        assert re.search(r"from this board on, boards \(nodes\): \d+, moves \(edges\): \d+", asked(terminal, ACTION))
        assert (tmp_path / "figures" / "experience_ahead.png").exists()
        terminal.sendline("5")
        assert re.search(r"It plays [1-46-9]: ", asked(terminal, ACTION))
        interrupt(terminal, menu)
        terminal.sendeof()


def test_without_a_terminal_output_is_plain_and_end_of_input_quits(tmp_path: Path) -> None:
    done = run_forked(CONSOLE, f"run_dir={tmp_path / 'run'}", "opponent=perfect?ties=lowest", stdin="n\n1,1\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert "It plays 0,0, value +0.00." in done.stdout
    assert "\x1b" not in done.stdout
    assert not (tmp_path / "run").exists()


def test_settings_that_cannot_be_played_are_reported_in_one_line(tmp_path: Path) -> None:
    arguments, code, reason = (
        ["--opponent", "nobody"],
        2,
        "unknown player 'nobody' in opponent; choose from beginner, easy, medium, hard, strongest, level, pretrained",
    )
    done = run_forked(CONSOLE, f"run_dir={tmp_path / 'run'}", *arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1)
    assert done.stderr.startswith("error: ")
    assert reason in done.stderr
