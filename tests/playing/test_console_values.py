"""The values of actions and the marks of legal squares in the console, and their colours."""

import io

import pytest
import torch
from torch import Tensor, nn

from selfplay.architectures import Output
from selfplay.named_players.make import make_player
from selfplay.players.exploring import EpsilonGreedyPlayer
from selfplay.players.value_net import ValueNetPlayer
from selfplay.playing.console_text import ConsoleText, ValueColumn, supports_colour
from selfplay.settings.playing import DisplaySettings
from tests.support.dialogue import GAME, dialogue
from tests.support.stub_players import FirstLegal, Valuing


class SumOfSquares(nn.Module):
    """Values an afterstate by a fixed number for each own square."""

    def forward(self, observations: Tensor) -> Output:
        return Output((observations[:, 0].reshape(-1, 9) * torch.arange(9) / 100).sum(dim=1))


def test_the_values_of_all_legal_actions_are_shown() -> None:
    written, _ = dialogue(["n"], ValueNetPlayer(GAME, SumOfSquares(), name="level 3"))
    assert written[2:] == [
        "What level 3 expects of each action:\n+0.00 +0.01 +0.02\n+0.03 +0.04 +0.05\n+0.06 +0.07 +0.08",
        "Estimates for the player to move, against players that may err; 0 is even.",
        "It plays 2,2, value +0.08.",
        ". . .\n. . .\n. . X",
        "",
    ]


@pytest.mark.parametrize(
    ("epsilon", "name", "how"), [(1.0, "epsilon-greedy valuing", "at random"), (0.0, "valuing", "greedily")]
)
def test_the_console_says_whether_an_exploring_player_acted_at_random(epsilon: float, name: str, how: str) -> None:
    written, _ = dialogue(["n"], EpsilonGreedyPlayer(GAME, Valuing(GAME), [epsilon]))
    assert written[2].startswith(f"What {name} expects of each action:\n+0.00 +0.01 +0.02\n")
    assert written[4].split(" ", 3)[3].startswith(f"{how}, value +0.0")


def test_perfect_values_are_shown_next_to_the_others_with_the_best_action() -> None:
    written, _ = dialogue(["y", "1,1", "0,1", "2,1"], FirstLegal(GAME), perfect=True)
    assert "Perfect play: 1,1 draws, and no other action is better." in written
    assert "Result with perfect play:\n+0.00 -1.00 +0.00\n-1.00   X   -1.00\n+0.00 -1.00 +0.00" in written
    written, _ = dialogue(["y", "1,1"], Valuing(GAME), perfect=True)
    assert (
        "What valuing expects of each action:    Result with perfect play:\n"
        "+0.00 +0.01 +0.02                       +0.00 -1.00 +0.00\n"
        "+0.03   X   +0.05                       -1.00   X   -1.00\n"
        "+0.06 +0.07 +0.08                       +0.00 -1.00 +0.00"
    ) in written
    written, _ = dialogue(["y", "0,1", "2,0"], Valuing(GAME), perfect=True)
    # . X .    O threatens nothing yet; X would have to think of the corner
    # . . .
    # . . O
    assert "Perfect play: 2,2 loses, a blunder; 0,0 or 0,2 or 1,1 or 2,1 would have been best (draws)." in written


# ---------------------------------------------------------------------- colour and marks


def test_good_values_are_green_bad_ones_red_and_the_best_bold() -> None:
    state = GAME.state_after(["1,1", "0,1"])
    values = torch.tensor([-0.5, torch.nan, 0.25, 0.0, torch.nan, -0.004, 1.0, 1.0, 0.001]).numpy()
    columns = [ValueColumn("one:", values), ValueColumn("another:", values)]
    settings = DisplaySettings(".", coordinates=False)
    text = ConsoleText(GAME, settings, colour=True).boards(state, columns)
    assert text.splitlines()[0] == "one:                 another:"
    row = "\x1b[31m-0.50\x1b[0m   O   \x1b[32m+0.25\x1b[0m"
    assert text.splitlines()[1] == f"{row}    {row}"
    assert text.splitlines()[3].startswith("\x1b[1;32m+1.00\x1b[0m \x1b[1;32m+1.00\x1b[0m +0.00")
    assert "\x1b" not in ConsoleText(GAME, settings).boards(state, columns)


def test_boards_that_do_not_fit_side_by_side_are_below_each_other() -> None:
    state, values = GAME.init(), torch.zeros(9).numpy()
    columns, settings = [ValueColumn("one:", values), ValueColumn("another:", values)], DisplaySettings(".")
    row = "0 +0.00 +0.00 +0.00"
    for width, first in ((42, f"{row}    {row}"), (41, row)):
        lines = ConsoleText(GAME, settings, columns=width).boards(state, columns).splitlines()
        assert lines[2] == first
        assert max(map(len, lines)) <= width


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_is_used_on_terminals_that_support_it_unless_no_color_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert supports_colour(Terminal())
    assert not supports_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "")
    assert supports_colour(Terminal())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not supports_colour(Terminal())
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not supports_colour(Terminal())


def test_values_of_minimax_are_not_said_to_hold_against_players_that_err() -> None:
    written, _ = dialogue(["n"], make_player("search:negascout?depth=2", GAME))
    assert "Estimates for the player to move, against the best replies that it sees; 0 is even." in written
