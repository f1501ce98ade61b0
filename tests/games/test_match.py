"""A match as a value: played, taken back, begun in a set-up position, and ended before the rules end it."""

from functools import reduce

import numpy as np
import pytest

from selfplay import IllegalActionError, Match, SelfPlayError, make_game
from selfplay.errors import NotNowError

OTHELLO = make_game("othello_4x4")


def test_a_match_is_played_by_numbers_and_texts_and_earlier_ones_stay() -> None:
    start = Match("tictactoe")
    board = start.play("1,1").play(1).play(np.int64(0)).play("0,2")
    assert str(board).splitlines() == ["X O O", ". X .", ". . ."]
    assert (board.to_move, board.winner, board.is_over) == (0, None, False)
    assert board.legal_moves() == ["1,0", "1,2", "2,0", "2,1", "2,2"]
    won = board.play(8)
    assert (won.winner, won.is_over, won.legal_actions(), board.legal_actions()) == (0, True, [], [3, 5, 6, 7, 8])
    for actions, winner in (([4, 0, 2, 6, 3, 5, 7, 1, 8], None), ([0, 3, 1, 4, 8, 5], 1)):
        end = reduce(Match.play, actions, start)
        assert (end.winner, end.is_over) == (winner, True)
    assert start.legal_actions() == list(range(9))
    refused = {
        "action 1,1 is not legal here: it is occupied": (board, 4),
        "action 9 does not exist; actions are 0 to 8": (board, 9),
        f"'e5' is not a move; write {start.game.presentation.action_help}": (board, "e5"),
        "action 0.5 is not a whole number; give the number of an action, or its text": (board, 0.5),
        "the match is over": (won, 3),
    }
    for message, (given, action) in refused.items():
        with pytest.raises(IllegalActionError) as caught:
            given.play(action)
        assert str(caught.value) == message


def test_a_match_from_a_position_keeps_it_and_who_moves_first() -> None:
    game = make_game("go_9x9")
    stones = [0] * 81
    for square in (20, 24, 56):
        stones[square] = 1
    match = Match(game, game.set_up(stones, to_move=1)).play("E5").play("A1")
    assert [int(state.current_player) for state in match.states] == [1, 0, 1]
    assert (match.handicap, match.is_set_up, match.undo().undo().state) == (3, True, match.start)
    assert str(match).count("X") == 4
    assert (Match(game).handicap, Match(game).is_set_up) == (0, False)
    with pytest.raises(NotNowError, match="no action has been taken yet"):
        Match(game, match.start).undo()
    with pytest.raises(SelfPlayError, match="start=3: must be a State of one match"):
        Match(game, 3)


def test_passes_that_are_the_only_legal_action_may_be_left_out() -> None:
    whole = Match(OTHELLO)
    while not any(map(whole.is_forced, range(len(whole.actions)))):
        whole = Match(OTHELLO) if whole.is_over else whole
        whole = whole.play(whole.legal_actions()[len(whole.actions) % 2 % len(whole.legal_actions())])
    whole = whole.play(whole.legal_actions()[0])
    left_out = [action for ply, action in enumerate(whole.actions) if not whole.is_forced(ply)]
    assert len(left_out) < len(whole.actions)
    assert Match(OTHELLO).play_all(left_out) == Match(OTHELLO).play_all(whole.actions) == whole


def test_a_match_ends_before_the_rules_end_it_and_is_taken_back() -> None:
    match = Match("tictactoe").play(4).play(0)
    lost, drawn = match.lost_by(1, has_resigned=True), match.lost_by(None)
    assert (lost.winner, lost.is_over, lost.has_resigned, lost.legal_actions()) == (0, True, True, [])
    assert (drawn.winner, drawn.is_over, drawn.has_resigned) == (None, True, False)
    assert lost.undo() == match.undo()
    assert len({match, lost, drawn, Match("tictactoe").play(4).play(0)}) == 3
    assert match.continues(match.undo())
    assert not match.continues(match.play(1))
    assert not match.continues(Match("tictactoe").play(0))


@pytest.mark.parametrize(
    ("game", "text", "moves"),
    [
        ("connect_four", "444", ["4", "4", "4"]),
        ("connect_four", "4 4 4", ["4", "4", "4"]),
        ("othello", "f5d6", ["f5", "d6"]),
        ("examples.animals:Animals", "b3n", ["b3n"]),
        ("examples.animals:Animals", "b3n a1s", ["b3n", "a1s"]),
    ],
)
def test_a_position_is_named_by_the_moves_in_one_text(game: str, text: str, moves: list[str]) -> None:
    made = make_game(game)
    assert made.state_after(text).key() == made.state_after(moves).key()
    with pytest.raises(IllegalActionError, match=r"'z+' is not a move"):
        made.state_after(f"{text} zz")
