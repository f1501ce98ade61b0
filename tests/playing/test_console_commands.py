"""The commands of the console: undo, hints, values, help."""

import re

import pytest

from selfplay.games import make_game
from selfplay.playing.console_commands import COMMANDS
from tests.support.clobber import Clobber
from tests.support.dialogue import GAME, LARGE, dialogue
from tests.support.stub_players import FirstLegal, Valuing


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


def test_moves_of_the_second_player_of_breakthrough_are_written_as_it_takes_them() -> None:
    game = make_game("breakthrough")
    written, _ = dialogue(["b3b2", "c4c3", "undo"], FirstLegal(game), None, game=game)
    assert written[4].startswith("action b3b2 is not legal here: it moves no stone of O")
    assert written[7] == "Taken back: c4c3, b2b3."


@pytest.mark.slow
def test_values_and_hints_for_the_second_player_of_breakthrough_are_written_as_it_moves() -> None:
    game = make_game("breakthrough")
    written, _ = dialogue(["n", "c4c3", "hint"], Valuing(game), game=game)
    assert [line.split()[0] for line in written[-3].splitlines()[7:9]] == ["c5c4", "a4a3"]
    hinted = re.search(
        r"would play [a-e](\d)[a-e](\d), .* Best line: [a-e](\d)[a-e](\d) [a-e](\d)[a-e](\d) ", written[-2]
    )
    assert hinted is not None
    ranks = list(map(int, hinted.groups()))
    assert [ranks[1] - ranks[0], ranks[3] - ranks[2], ranks[5] - ranks[4]] == [-1, -1, 1]


@pytest.mark.parametrize("answer", ["n", "N", "No", "nope", "no, thanks"])
def test_any_answer_that_begins_with_n_ends(answer: str) -> None:
    _, prompts = dialogue(["Yes", "1,1", "2,0", "0,2", answer, "y"], FirstLegal(GAME))
    assert prompts[-1] == "Play again? [Y/n] "


def test_a_hint_is_the_best_action_that_is_known_whoever_plays() -> None:
    # The opponent, which has taken a corner, would now take the lowest row, which loses.
    written, _ = dialogue(["n", "hint"], Valuing(GAME))
    assert "Perfect play: 1,1 draws. Best line: 1,1" in " ".join(written)
    assert any(text.startswith("Result with perfect play:\n-1.00 -1.00 -1.00\n-1.00 +0.00 -1.00") for text in written)
    written, _ = dialogue(["hint"], None, FirstLegal(LARGE), game=LARGE)
    assert re.search(r"pretrained, 5 plies would play \w\d, value [+-]\d\.\d discs\. Best line: \w\d \w\d", written[-2])
    assert written[-3].startswith("What pretrained, 5 plies expects of each action, in discs:")


def test_a_hint_after_the_end_is_refused() -> None:
    written, _ = dialogue(["y", "0,0", "1,1", "2,2", "hint", "n"], FirstLegal(GAME))
    assert "the match is over" in written


def test_values_and_perfect_values_are_shown_and_hidden() -> None:
    player = Valuing(GAME)
    written, _ = dialogue(["values off", "y", "1", "values", "2", "perfect on", "perfect on", "perfect off"], player)
    assert written[1:6] == ["values off", "You are X.", ". . .\n. . .\n. . .", "It plays 9.", "X . .\n. . .\n. . O"]
    assert written[6] == "values on"
    assert written[7].startswith("What valuing expects")
    assert written[-6::2] == ["perfect on", "perfect on", "perfect off"]
    # The values are shown at once.
    assert written[-5] == written[-3]
    assert written[-5].startswith("Result with perfect play:")
    written, _ = dialogue(["y", "values perhaps"], player)
    assert "write values on or values off" in written


def test_help_says_on_which_squares_actions_are_that_are_only_numbers() -> None:
    game = Clobber()
    written, _ = dialogue(["y", "help"], FirstLegal(game), game=game)
    (line,) = (line for line in written if line.startswith("Legal now: 2: column 1, row 1 to column 2, row 1; "))
    assert line.count(" to ") == int(game.legal_action_mask(game.init()).sum())
    assert not any("Legal now" in line for line in dialogue(["y", "help"], FirstLegal(GAME))[0])


def test_actions_that_are_only_numbers_are_read_and_written_as_squares() -> None:
    game = Clobber()
    written, _ = dialogue(["y", "Column 1, row 1 to column 2, row 1", "undo"], FirstLegal(game), game=game)
    reply = next(line for line in written if line.startswith("It plays "))
    assert " to column " in reply
    assert f"Taken back: column 1, row 1 to column 2, row 1, {reply.removeprefix('It plays ')}" in written


def test_help_lists_the_actions_and_every_command() -> None:
    written, _ = dialogue(["help", "y", "?"], FirstLegal(GAME))
    assert written.count(f"An action: {GAME.presentation.action_help}") == 2
    assert all(any(line.startswith(f"{name} ") for line in written[2].splitlines()) for name in COMMANDS)


@pytest.mark.parametrize(
    ("name", "file"), [("tictactoe", "game.txt"), ("connect_four", "game.txt"), ("go_5x5", "game.sgf")]
)
def test_help_names_a_file_that_the_game_can_be_saved_in_and_fits_the_terminal(name: str, file: str) -> None:
    written, _ = dialogue(["help"], None, None, game=make_game(name))
    assert f"load     go on with the match in a file: load {file}" in written[3]
    assert f"save     write the match to a file: save {file}" in written[3]
    assert max(map(len, written[3].splitlines())) <= 80
