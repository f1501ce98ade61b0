"""The rules in words and the picture beside them, against the rules that are played."""

import importlib
import re
from pathlib import Path

import pytest

from selfplay.games import Game, game_names, make_game
from selfplay.games.hex import Hex
from selfplay.games.presentation import Presentation
from selfplay.games.state import State
from tests.support.doc_pages import block_with, write_module
from tests.support.games import with_slow_boards


def example_of(game: Game) -> State:
    return game.position_after(game.presentation.example)


@pytest.mark.parametrize("name", game_names())
def test_each_game_is_explained_in_four_to_eight_short_sentences_and_a_picture(name: str) -> None:
    show = make_game(name).presentation
    assert 4 <= len(show.how_to_play) <= 8
    for text in (*show.how_to_play, show.example_caption):
        assert re.fullmatch(r"[A-Z].*\.", text)
        assert len(text) <= 180
    # They are shown beside these texts and do not repeat them.
    assert not {show.aim, show.action_help} & set(show.how_to_play)
    assert show.example
    assert show.example_caption != Presentation.example_caption


@pytest.mark.parametrize("name", with_slow_boards(game_names()))
def test_pictures_show_what_their_captions_say(name: str) -> None:
    game = make_game(name)
    state, caption = example_of(game), game.presentation.example_caption
    winner = {1: game.presentation.player_names[0], -1: game.presentation.player_names[1]}.get(int(state.returns))
    if "wins" in caption or "connected" in caption:
        assert caption.startswith(str(winner).capitalize())
    else:
        assert not bool(state.terminated)


@pytest.mark.parametrize("size", [8, 6, 4])
def test_the_picture_of_othello_shows_a_black_move_that_turns_one_disc(size: int) -> None:
    game = make_game("othello", size)
    actions = game.read_transcript(game.presentation.example)
    before, after = (game.squares(game.follow(actions[:count]))[0] for count in (len(actions) - 1, len(actions)))
    assert int((before * after == -1).sum()) == 1
    assert int(after[actions[-1]]) == 1
    assert f"played {game.action_to_string(actions[-1])} " in game.presentation.example_caption


def test_numbers_in_the_rules_of_sumto100_are_those_that_are_good_to_reach() -> None:
    game = make_game("sumto100")
    good = [100]
    for number in range(99, -1, -1):
        if not any(number < other <= number + 10 for other in good):
            good.append(number)
    assert good == [100, 89, 78, 67, 56, 45, 34, 23, 12, 1]
    assert game.positions(example_of(game))[0].sum == 89
    assert {"89", "78", "67", "12", "1"} <= set(re.findall(r"\d+", " ".join(game.presentation.how_to_play)))


def test_the_start_is_the_picture_of_a_game_that_does_not_choose_another() -> None:
    class Plain(Hex):
        presentation_class = Presentation

    show = Plain(3).presentation
    assert (show.how_to_play, show.example, show.example_caption) == ((), "", "The start of a match.")


def test_the_example_of_the_documentation_is_won_as_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_module(tmp_path, "adding_a_game.md", "class Connect3(Game)", "connect3_of_docs.py")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("connect3_of_docs")
    names = vars(module) | {"Presentation": Presentation}
    exec(block_with("game_reference.md", "how_to_play = ("), names)
    game, show = module.Connect3(), names["Connect3Presentation"]
    state = game.position_after(show.example)
    assert int(state.returns) == 1
    assert show.example_caption.startswith("X has three in the lowest row")
    assert game.squares(state)[0].tolist()[-3:] == [1, 1, 1]
