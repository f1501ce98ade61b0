"""What the console shows on request: boxed boards, board numbers, reasons, the graph ahead; and matches to watch."""

from pathlib import Path

import pytest
import torch
from PIL import Image

from selfplay.games import make_game
from selfplay.players.experience import ExperiencePlayer
from selfplay.playing.console import Console
from selfplay.playing.console_text import boxed_board
from selfplay.playing.experience_menu import play_with_experience
from selfplay.playing.session import Session
from selfplay.settings.classical import PictureSettings
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.playing import DisplaySettings, ExperiencePlaySettings
from selfplay.settings.run import Run
from tests.support.dialogue import GAME, dialogue
from tests.support.experience_tools import learn, new_store
from tests.support.stub_players import FirstLegal, Valuing


def experienced(folder: Path) -> ExperiencePlayer:
    store = new_store(folder)
    for moves in ([0, 3, 1, 4, 2], [4, 0, 1, 7, 2, 6, 8, 3]):
        learn(store, moves)
    return ExperiencePlayer(store)


# ---------------------------------------------------------------------- boards


def test_a_board_can_be_boxed_with_and_without_values() -> None:
    state = GAME.state_after(["1,1", "0,0"])
    expected = "-------------\n| O |   |   |\n-------------\n|   | X |   |\n-------------\n|   |   |   |\n-------------"
    assert boxed_board(GAME, state) == expected
    values = torch.tensor([torch.nan, 0.5, -1, *[torch.nan] * 6]).numpy()
    assert boxed_board(GAME, state, values).splitlines()[1] == "|   O   | +0.50 | -1.00 |"
    written, _ = dialogue(["y", "1,1"], FirstLegal(GAME), board="boxed")
    assert expected in written


def test_values_are_shown_at_first_on_small_boards_only() -> None:
    for game, is_small in ((GAME, True), (make_game("go_5x5"), False)):
        asked = dialogue(["y", game.action_to_string(4), "quit"], Valuing(game), game=game)[0]
        told = dialogue(["y", game.action_to_string(4), "quit"], Valuing(game), game=game, values=not is_small)[0]
        expected = "What valuing expects of each action:"
        assert (expected in "\n".join(asked), expected in "\n".join(told)) == (is_small, not is_small)


# ---------------------------------------------------------------------- notation and reasons


def test_actions_are_answered_in_the_notation_in_which_they_are_typed() -> None:
    typed, reply = "s", "q"
    written, _ = dialogue(["y", typed, typed, "hint", "undo"], FirstLegal(GAME))
    assert f"It plays {reply}." in written
    assert f"action {typed} is not legal here: it is occupied" in written
    assert f"Taken back: {typed}, {reply}." in written


def test_the_experience_player_says_why_it_plays(tmp_path: Path) -> None:
    written, _ = dialogue(["y", "1"], experienced(tmp_path))
    assert "It plays 2: a block, because the worst known score is -0.73." in written
    assert not any("value" in line for line in written)
    # O has lost by square 4, and knows no other one.
    assert "What experience expects of each action:\n  X     .     .\n-0.73   .     .\n  .     .     ." in written
    written, _ = dialogue(["n"], experienced(tmp_path / "other"))
    assert any(line.startswith("It plays 0,0: a predicted win, with the best known score +0.") for line in written)


# ---------------------------------------------------------------------- the graph at the prompt


def test_graph_draws_the_known_boards_ahead(tmp_path: Path) -> None:
    picture = PictureSettings(file=str(tmp_path / "ahead.png"))
    written, _ = dialogue(["y", "graph", "9", "graph"], experienced(tmp_path), picture=picture)
    assert "from this board on, boards (nodes): 7, moves (edges): 6" in written
    assert "this board is not in the experience graph yet" in written
    with Image.open(tmp_path / "ahead.png") as image:
        assert image.width > 300
    written, _ = dialogue(["y", "graph"], FirstLegal(GAME), picture=picture)
    assert "no player here keeps an experience graph" in written


# ---------------------------------------------------------------------- watching, and the menu


def watched(matches: int, **shown: object) -> list[str]:
    written: list[str] = []
    session = Session(GAME, (FirstLegal(GAME), Valuing(GAME)), 0)
    settings = DisplaySettings(".", coordinates=False, **shown)
    Console(session, lambda _: pytest.fail("asked"), written.append, settings, swap=True).watch(matches)
    return written


def test_without_show_only_the_results_are_written() -> None:
    written = watched(3, show=False, pause=100.0)
    assert [line.split(":")[0] for line in written] == ["match 1", "match 2", "match 3"]


def test_the_menu_offers_three_modes_and_counts_the_known_boards(tmp_path: Path) -> None:
    settings = compose_settings_of(
        ExperiencePlaySettings, "experience_play", [f"run_dir={tmp_path}", "pause=0", "matches=3"]
    )
    written: list[str] = []
    answers = iter(["4", "2", "3", "1", "y", "1", "quit", "quit"])
    play_with_experience(Run.of(settings), lambda _: next(answers), written.append)
    known = [int(line.split()[4]) for line in written if line.startswith("The experience graph knows")]
    assert known[0] == 0 < known[1] < known[2] == known[3]
    assert "Please write 1, 2, 3 or quit." in written
    assert "  1  you against it\n  2  the random player against it\n  3  it against itself" in written
    finished = [line for line in written if line.startswith("match ")]
    assert [line.split(" boards known from ")[1].split()[0] for line in finished] == ["1", "2", "3", "4", "5", "6"]
    # Squares are numbers here.
    assert any(line.startswith("It plays ") and line.split()[2].strip(":") in set("123456789") for line in written)


def menu_settings(folder: Path, *overrides: str) -> ExperiencePlaySettings:
    return compose_settings_of(
        ExperiencePlaySettings, "experience_play", [f"run_dir={folder}", "pause=0.01", *overrides]
    )


@pytest.mark.parametrize("leaving", ["quit", KeyboardInterrupt])
def test_leaving_a_match_returns_to_the_menu_and_leaving_the_menu_ends(tmp_path: Path, leaving: object) -> None:
    prompts: list[str] = []
    answers = iter(["1", "y", "5", leaving, "1", leaving, leaving])

    def read(prompt: str) -> str:
        prompts.append(prompt)
        answer = next(answers)
        if not isinstance(answer, str):
            raise answer
        return answer

    written: list[str] = []
    play_with_experience(Run.of(menu_settings(tmp_path)), read, written.append)
    assert [prompt.startswith("Choose 1, 2 or 3") for prompt in prompts] == [True, *[False] * 3, True, False, True]
    assert written.count("Tic-tac-toe against experience (help lists the commands, quit returns to the menu)") == 2
