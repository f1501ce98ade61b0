"""The player that needs nothing compiled, while another one is being loaded."""

import pytest
import torch

from selfplay.compute.compilation import in_plain_python
from selfplay.compute.compile_cache import CheckedCache
from selfplay.compute.random_numbers import Draws
from selfplay.games import make_game
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.players.stand_in import StandIn


def actions_in(game: Game, state: State, number: int = 20) -> set[str]:
    """The texts of the actions that it takes in a position, by other random numbers each time."""
    many = state.select(torch.zeros(number, dtype=torch.int64))
    actions = StandIn(game).act(many, Draws(0, torch.arange(number), 0))
    return {game.action_text(int(action), int(state.current_player)) for action in actions}


@pytest.mark.parametrize(
    ("name", "moves", "expected"),
    [
        ("tictactoe", "0,0 1,1 0,1 2,2", {"0,2"}),  # a win
        ("tictactoe", "0,0 1,1 2,2 0,1", {"2,1"}),  # a threat
        ("tictactoe", "0,0 1,1 0,1 0,2 1,0", {"2,0"}),  # a win and a threat
        ("connect_four", "4 5 4 5 4", {"4"}),
    ],
)
def test_it_wins_at_once_or_stops_a_win_at_once(name: str, moves: str, expected: set[str]) -> None:
    game = make_game(name)
    assert actions_in(game, game.state_after(moves.split())) == expected


def test_it_differs_from_match_to_match_and_knows_positions_that_are_lost() -> None:
    game = make_game("tictactoe")
    assert len(actions_in(game, game.init(), 50)) == 9
    lost = game.state_after(["0,0", "2,1", "0,2", "1,2", "2,0"])
    assert actions_in(game, lost) <= {game.action_text(action, 1) for action in range(9)}


@pytest.mark.parametrize("name", ["hex_6x6", "gomoku_11x11", "go_6x6", "othello", "draughts", "dots_and_boxes"])
def test_nothing_is_compiled_for_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    game = make_game(name)
    player, state = StandIn(game), game.init()
    # Compiling begins by looking for the code on disk.
    monkeypatch.setattr(CheckedCache, "load_overload", None)
    with in_plain_python():
        for ply in range(12):
            action = player.act(state, Draws(0, torch.tensor([0]), ply))
            assert game.legal_action_mask(state)[0, int(action)]
            state = game.kernels.step(state, action)
