"""The console: whole matches in scripted dialogues, invalid input, commands, quitting at any prompt."""

import io
from collections.abc import Iterable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from selfplay.architectures.output import Output
from selfplay.games import Game, make_game
from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer
from selfplay.players.player import Player
from selfplay.players.random import RandomPlayer
from selfplay.players.value_net import ValueNetPlayer
from selfplay.playing.board_text import ValueColumn, boards_side_by_side, supports_colour
from selfplay.playing.console import COMMANDS, Console
from selfplay.playing.console_text import Display
from selfplay.playing.session import Session
from tests.support.pile import Pile
from tests.support.stub_players import FirstLegal, Learning, Valuing

GAME = make_game("tictactoe")
LARGE = make_game("othello_6x6")
PROMPT = f"Your action ({GAME.presentation.action_help}): "


class SumOfSquares(nn.Module):
    """Values an afterstate by a fixed number for each own square."""

    def forward(self, observations: Tensor) -> Output:
        return Output((observations[:, 0].reshape(-1, 9) * torch.arange(9) / 100).sum(dim=1))


def dialogue(
    answers: Iterable[str], *players: Player | None, game: Game = GAME, swap: bool = False, **shown: Any
) -> tuple[list[str], list[str]]:
    """The lines that the console writes, and the prompts that it shows, when the person answers so and then leaves.

    `players`: the two; of one alone the other is the person, who is asked who moves first.
    """
    written: list[str] = []
    prompts: list[str] = []
    remaining = iter(answers)

    def read(prompt: str) -> str:
        prompts.append(prompt)
        try:
            return next(remaining)
        except StopIteration:
            raise EOFError from None

    asks = len(players) == 1
    session = Session(game, (None, players[0]) if asks else (players[0], players[1]), 0)
    Console(session, read, written.append, asks_who_is_first=asks, swap=swap, display=Display(**shown)).play()
    return written, prompts


# ---------------------------------------------------------------------- whole matches


def test_a_person_who_moves_first_wins_a_whole_match() -> None:
    written, prompts = dialogue(["y", "0,0", "1,1", "2,2", "n"], FirstLegal(GAME))
    # X O O
    # . X .
    # . . X
    counted = "match 1: X won 1 (1.000), O won 0 (0.000), drawn 0 (0.000)"
    assert written[0] == "tictactoe against first legal (help lists the commands, quit leaves)"
    assert written[-3:] == ["X O O\n. X .\n. . X", "You win.", counted]
    assert prompts == ["Do you want to go first? [Y/n] ", *[PROMPT] * 3, "Play again? [Y/n] "]


def test_a_person_who_moves_second_loses_and_plays_again() -> None:
    written, prompts = dialogue(["n", "1,0", "1,1", "", "no"], FirstLegal(GAME))
    assert "X X X\nO O .\n. . ." in written
    assert "You lose." in written
    assert prompts.count("Do you want to go first? [Y/n] ") == 2


def test_a_draw_is_announced() -> None:
    written, _ = dialogue(["y", "1,1", "0,2", "1,0", "2,1", "2,2", "n"], FirstLegal(GAME))
    counted = "match 1: X won 0 (0.000), O won 0 (0.000), drawn 1 (1.000)"
    assert written[-3:] == ["O O X\nX X O\nO X X", "A draw.", counted]


def test_no_question_about_who_goes_first_when_the_seat_is_set() -> None:
    written, prompts = dialogue(["1,0", "1,1", "y", "2,2"], FirstLegal(GAME), None)
    assert written[0].startswith("tictactoe, X: first legal, O: human (")
    assert "You lose." in written
    assert prompts == [PROMPT, PROMPT, "Play again? [Y/n] ", PROMPT, PROMPT]


def test_two_people_play_each_other() -> None:
    written, prompts = dialogue(["1", "4", "2", "5", "3", "n"], None, None)
    asked = [f"Action of {player} ({GAME.presentation.action_help}): " for player in "XOXOX"]
    assert prompts == [*asked, "Play again? [Y/n] "]
    assert written[-3:-1] == ["X X X\nO O .\n. . .", "X wins."]


def test_a_match_of_two_players_can_be_watched_and_they_change_seats() -> None:
    written, prompts = dialogue(["y", "n"], FirstLegal(GAME), Valuing(GAME), swap=True)
    assert prompts == ["Play again? [Y/n] "] * 2
    assert written[:5] == [
        "tictactoe, X: first legal, O: valuing (help lists the commands, quit leaves)",
        ". . .\n. . .\n. . .",
        "X (first legal) plays 0,0.",
        "What valuing expects of each action:\n  X   +0.01 +0.02\n+0.03 +0.04 +0.05\n+0.06 +0.07 +0.08",
        "O (valuing) plays 2,2, value +0.08.",
    ]
    assert "X: valuing, O: first legal" in written
    assert written.count("X wins.") == 2
    assert written[-1] == "match 2: X won 2 (1.000), O won 0 (0.000), drawn 0 (0.000)"


def test_a_person_who_can_only_pass_is_informed_and_not_asked() -> None:
    written, prompts = dialogue(["y", "two", "one", "one", "one"], FirstLegal(Pile()), game=Pile())
    # first 2, second 1: the person waits; then 2 to 2, 3 to 3, 4 to 3.
    assert written.count("You can only pass.") == 1
    assert written[written.index("You can only pass.") + 1] == "It plays one."
    assert prompts.count("Your action (one or two): ") == 3
    assert "You win." in written
    written, _ = dialogue(["n", "one"], Valuing(Pile()), game=Pile(), values=False)
    assert "It can only pass." in written


def test_a_learning_opponent_learns_from_each_match() -> None:
    learner = Learning(GAME)
    written, _ = dialogue(["y", "0,0", "1,1", "2,2", "y", "n", "1,0", "1,1", "n"], learner)
    assert learner.seen == [(0, [0, 1, 4, 2, 8], 1.0, (1,)), (1, [0, 3, 1, 4, 2], 1.0, (0,))]
    # What it says of itself holds the match that has just ended.
    assert "match 1: X won 1 (1.000), O won 0 (0.000), drawn 0 (0.000); seen 1" in written
    assert written[-1] == "match 2: X won 2 (1.000), O won 0 (0.000), drawn 0 (0.000); seen 2"


# ---------------------------------------------------------------------- input


def test_invalid_input_is_explained_and_asked_again() -> None:
    written, prompts = dialogue(["maybe", "y", "5,5", "hello", "1,1", "1,1"], FirstLegal(GAME))
    assert "Please answer y or n." in written
    assert "'5,5' is not a square; write row,column from 0 to 2, or 1 to 9, or the keys qwe/asd/zxc" in written
    assert "'hello' is not a square; write row,column from 0 to 2, or 1 to 9, or the keys qwe/asd/zxc" in written
    assert any("action 1,1 is not legal here; legal actions: 0,1, 0,2" in line for line in written)
    assert len(prompts) == 7


@pytest.mark.parametrize("centre", ["1,1", "5", "s"])
def test_a_square_can_be_written_in_three_ways(centre: str) -> None:
    written, _ = dialogue(["y", centre], FirstLegal(GAME))
    assert "O . .\n. X .\n. . ." in written


def test_the_letter_q_is_a_square_not_a_command() -> None:
    written, _ = dialogue(["y", "q"], FirstLegal(GAME))
    assert "X O .\n. . .\n. . ." in written


@pytest.mark.parametrize("answers", [[], ["exit"], ["y", "Quit"], ["y", "1,1", "quit"]])
def test_quitting_at_any_prompt_ends_without_an_error(answers: list[str]) -> None:
    written, _ = dialogue(answers, FirstLegal(GAME))
    assert written[-1] == ""


def test_ctrl_c_quits_without_an_error() -> None:
    def read(_: str) -> str:
        raise KeyboardInterrupt

    written: list[str] = []
    Console(Session(GAME, (None, FirstLegal(GAME)), 0), read, written.append).play()
    assert written[-1] == ""


# ---------------------------------------------------------------------- values


def test_the_values_of_all_legal_actions_are_shown() -> None:
    written, _ = dialogue(["n"], ValueNetPlayer(GAME, SumOfSquares(), name="level 3"))
    assert written[1:] == [
        "What level 3 expects of each action:\n+0.00 +0.01 +0.02\n+0.03 +0.04 +0.05\n+0.06 +0.07 +0.08",
        "It plays 2,2, value +0.08.",
        ". . .\n. . .\n. . X",
        "",
    ]


def test_no_values_are_shown_for_the_random_player() -> None:
    written, _ = dialogue(["n"], RandomPlayer(GAME))
    assert written[1].startswith("It plays ")


@pytest.mark.parametrize(("epsilon", "how"), [(1.0, "at random"), (0.0, "greedily")])
def test_the_console_says_whether_an_exploring_player_acted_at_random(epsilon: float, how: str) -> None:
    written, _ = dialogue(["n"], EpsilonGreedyPlayer(GAME, Valuing(GAME), [epsilon]))
    assert written[1].startswith("What epsilon-greedy valuing expects of each action:\n+0.00 +0.01 +0.02\n")
    assert written[2].split(" ", 3)[3].startswith(f"{how}, value +0.0")


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
    assert "Perfect play: 2,2 loses; 0,0 or 0,2 or 1,1 or 2,1 would have been best (draws)." in written


def test_a_game_that_is_too_large_to_solve_has_no_perfect_values() -> None:
    written, _ = dialogue(["y", "c2", "perfect"], FirstLegal(LARGE), game=LARGE, perfect=True)
    assert written.count("othello_6x6 is too large to be solved") == 2
    assert "It plays b2." in written


# ---------------------------------------------------------------------- commands


def test_undo_takes_back_an_action_with_its_reply_also_after_the_end() -> None:
    written, prompts = dialogue(["y", "0,0", "2,2", "undo", "1,1", "2,2", "undo", "2,0", "2,2", "n"], FirstLegal(GAME))
    assert "Taken back: 2,2, 0,2." in written
    assert written[written.index("Taken back: 2,2, 0,2.") + 1] == "X O .\n. . .\n. . ."
    first, second = (n for n, line in enumerate(written) if line == "You win.")
    # The corner that ended the match was taken back, another way was played, and the counts stay.
    assert written[first + 2 : first + 4] == ["Taken back: 2,2.", "X O O\n. X .\n. . ."]
    assert written[second + 1] == "This was practice: the result that counts is the one before you took back the end."
    assert written[second + 2] == written[first + 1]
    assert prompts.count("Play again? [Y/n] ") == 2


def test_undo_without_an_action_is_explained() -> None:
    written, prompts = dialogue(["undo", "y", "undo"], FirstLegal(GAME))
    assert written.count("you have not taken an action yet") == 2
    assert len(prompts) == 4


def test_undo_works_at_the_question_about_the_next_match() -> None:
    written, prompts = dialogue(["y", "0,0", "1,1", "2,2", "y", "undo", "2,0"], FirstLegal(GAME))
    assert "Taken back: 2,2." in written
    assert prompts[-1] == PROMPT


def test_a_hint_is_the_opponents_choice_or_perfect_play() -> None:
    written, _ = dialogue(["y", "hint", "perfect", "hint"], Valuing(GAME))
    assert written.count("valuing would play 2,2, value +0.08.") == 2
    assert "What valuing expects of each action:\n+0.00 +0.01 +0.02\n+0.03 +0.04 +0.05\n+0.06 +0.07 +0.08" in written
    nine = " or ".join(GAME.action_to_string(action) for action in range(9))
    assert written[-2] == f"Perfect play: {nine} draws."
    written, _ = dialogue(["y", "hint"], RandomPlayer(GAME))
    assert "perfect would play 0,0, value +0.00." in written
    written, _ = dialogue(["hint"], None, FirstLegal(LARGE), game=LARGE)
    assert "no player here values actions, and othello_6x6 is too large to be solved" in written


def test_values_and_perfect_values_are_shown_and_hidden() -> None:
    player = Valuing(GAME)
    written, _ = dialogue(["values off", "y", "1", "values", "2", "perfect on", "perfect on", "perfect off"], player)
    assert written[1:5] == ["values off", ". . .\n. . .\n. . .", "It plays 9.", "X . .\n. . .\n. . O"]
    assert written[5] == "values on"
    assert written[6].startswith("What valuing expects")
    assert written[-4:] == ["perfect on", "perfect on", "perfect off", ""]
    written, _ = dialogue(["y", "values perhaps"], player)
    assert "write values on or values off" in written


def test_hidden_values_are_not_computed() -> None:
    player = Valuing(GAME)
    dialogue(["y", "1", "2"], player, values=False)
    assert player.asked == 0


def test_help_lists_the_actions_and_every_command() -> None:
    written, _ = dialogue(["help", "y", "HELP"], FirstLegal(GAME))
    assert written.count(f"An action: {GAME.presentation.action_help}") == 2
    assert all(any(line.startswith(f"{name} ") for line in written[2].splitlines()) for name in COMMANDS)


# ---------------------------------------------------------------------- colour


def test_good_values_are_green_bad_ones_red_and_the_best_bold() -> None:
    state = GAME.state_after(["1,1", "0,1"])
    values = torch.tensor([-0.5, torch.nan, 0.25, 0.0, torch.nan, -0.004, 1.0, 1.0, 0.001]).numpy()
    columns = [ValueColumn("one:", values), ValueColumn("another:", values)]
    text = boards_side_by_side(GAME, state, columns, colour=True)
    assert text.splitlines()[0] == "one:                 another:"
    row = "\x1b[31m-0.50\x1b[0m   O   \x1b[32m+0.25\x1b[0m"
    assert text.splitlines()[1] == f"{row}    {row}"
    assert text.splitlines()[3].startswith("\x1b[1;32m+1.00\x1b[0m \x1b[1;32m+1.00\x1b[0m +0.00")
    plain = boards_side_by_side(GAME, state, columns)
    assert "\x1b" not in plain


def test_exact_values_are_integers_below_their_columns() -> None:
    values = torch.tensor([-12, torch.nan, 3, 0, 3, 1, -1]).numpy()
    game = make_game("connect_four")
    column = ValueColumn("one:", values, are_exact=True)
    assert boards_side_by_side(game, game.init(), [column]).splitlines()[-2:] == [
        "  .      .      .      .      .      .      .",
        " -12     -     +3      0     +3     +1     -1",
    ]
    coloured = boards_side_by_side(game, game.init(), [column], colour=True).splitlines()[-1]
    assert "\x1b[1;32m +3  \x1b[0m    0    \x1b[1;32m +3" in coloured


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


def test_legal_squares_are_marked_on_a_persons_turn_and_off_by_a_setting() -> None:
    marked, _ = dialogue(["y", "b3"], FirstLegal(LARGE), game=LARGE)
    plain, _ = dialogue(["y", "b3"], FirstLegal(LARGE), game=LARGE, legal=False)
    board = next(text for text in marked if "black (X)" in text)
    # Black can play c2, b3, e4 and d5.
    assert [line.split()[1:] for line in board.splitlines()[2:6]] == [
        [*"..*..."],
        [*".*OX.."],
        [*"..XO*."],
        [*"...*.."],
    ]
    assert board.endswith("black (X) 2, white (O) 2; * legal")
    assert not any("*" in text for text in plain)
    assert next(text for text in plain if "black (X)" in text) == LARGE.presentation.board_text(LARGE.init())
