"""A person at the console: whole matches in a scripted dialogue, wrong input asked again, leaving at any prompt."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from selfplay.arena import MatchRecord
from selfplay.console import Console
from selfplay.games import make_game
from selfplay.games.game import State
from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer
from selfplay.players.player import Player
from selfplay.players.random import RandomPlayer
from selfplay.players.value_net import ValueNetPlayer
from selfplay.randomness import Draws

PROJECT = Path(__file__).parent.parent


class FirstLegal(Player):
    """Plays the lowest legal action."""

    name = "first legal"

    def act(self, state: State, draws: Draws) -> Tensor:
        return make_game("tictactoe").legal_action_mask(state).to(torch.uint8).argmax(dim=1)

    def policy(self, state: State) -> Tensor:
        raise NotImplementedError


class SumOfSquares(nn.Module):
    """Values an afterstate by a fixed number for each own square."""

    def forward(self, observations: Tensor) -> Tensor:
        return (observations[:, 0].reshape(-1, 9) * torch.arange(9) / 100).sum(dim=1, keepdim=True)


def dialogue(answers: list[str], opponent: Player) -> tuple[list[str], list[str]]:
    """The lines that the console writes, and the prompts that it shows, when the person answers so and then leaves."""
    written: list[str] = []
    prompts: list[str] = []
    remaining = iter(answers)

    def read(prompt: str) -> str:
        prompts.append(prompt)
        try:
            return next(remaining)
        except StopIteration:
            raise EOFError from None

    Console(make_game("tictactoe"), opponent, read, written.append, key=0).play()
    return written, prompts


def test_a_person_who_moves_first_wins_a_whole_match() -> None:
    written, prompts = dialogue(["y", "0,0", "1,1", "2,2", "n"], FirstLegal())
    # X O O
    # . X .
    # . . X
    counted = "match 1: X won 1 (1.000), O won 0 (0.000), drawn 0 (0.000)"
    assert written[-3:] == ["X O O\n. X .\n. . X", "You win.", counted]
    assert prompts[0] == "Do you want to go first? [Y/n] "
    assert prompts[1:4] == [f"Your action ({make_game('tictactoe').action_help}): "] * 3
    assert prompts[4] == "Play again? [Y/n] "


def test_a_person_who_moves_second_loses_and_plays_again() -> None:
    written, prompts = dialogue(["n", "1,0", "1,1", "", "no"], FirstLegal())
    assert "X X X\nO O .\n. . ." in written
    assert "You lose." in written
    assert prompts.count("Do you want to go first? [Y/n] ") == 2


def test_a_draw_is_said() -> None:
    written, _ = dialogue(["y", "1,1", "0,2", "1,0", "2,1", "2,2", "n"], FirstLegal())
    counted = "match 1: X won 0 (0.000), O won 0 (0.000), drawn 1 (1.000)"
    assert written[-3:] == ["O O X\nX X O\nO X X", "A draw.", counted]


def test_wrong_input_is_asked_again_with_the_reason() -> None:
    written, prompts = dialogue(["maybe", "y", "5,5", "hello", "1,1", "1,1"], FirstLegal())
    assert "Please answer y or n." in written
    assert "'5,5' names no square; write row,column from 0 to 2, or 1 to 9, or the keys qwe/asd/zxc" in written
    assert "'hello' names no square; write row,column from 0 to 2, or 1 to 9, or the keys qwe/asd/zxc" in written
    assert any("action 1,1 is not legal here; legal are 0,1, 0,2" in line for line in written)
    assert len(prompts) == 7


def test_the_agent_shows_its_estimate_of_each_legal_action() -> None:
    agent = ValueNetPlayer(make_game("tictactoe"), SumOfSquares(), name="level 3")
    written, _ = dialogue(["n"], agent)
    assert written[1:] == [
        "What level 3 expects of each action:",
        "+0.00 +0.01 +0.02\n+0.03 +0.04 +0.05\n+0.06 +0.07 +0.08",
        "It plays 2,2, value +0.08.",
        ". . .\n. . .\n. . X",
        "",
    ]


def test_the_random_player_has_no_estimates() -> None:
    written, _ = dialogue(["n"], RandomPlayer(make_game("tictactoe")))
    assert written[1].startswith("It plays ")


def test_a_player_that_explores_says_when_it_does() -> None:
    game = make_game("tictactoe")
    agent = ValueNetPlayer(game, SumOfSquares(), name="level 3")
    written, _ = dialogue(["n"], EpsilonGreedyPlayer(game, agent, [1.0]))
    assert written[2] == "+0.00 +0.01 +0.02\n+0.03 +0.04 +0.05\n+0.06 +0.07 +0.08"
    assert re.fullmatch(r"It plays \d,\d at random, value \+0\.0\d\.", written[3])


def test_an_opponent_that_learns_is_shown_each_match() -> None:
    class Learning(FirstLegal):
        learns = True

        def __init__(self) -> None:
            self.seen: list[tuple[list[int], float, tuple[int, ...]]] = []

        def after_match(self, record: MatchRecord, seats: tuple[int, ...]) -> None:
            self.seen.append((record.action_sequences()[0].tolist(), float(record.returns()), seats))

        def status(self) -> str:
            return f"seen {len(self.seen)}"

    learner = Learning()
    written, _ = dialogue(["y", "0,0", "1,1", "2,2", "y", "n", "1,0", "1,1", "n"], learner)
    assert learner.seen == [([0, 1, 4, 2, 8], -1.0, (1,)), ([0, 3, 1, 4, 2], 1.0, (0,))]
    # What it says of itself holds the match that has just ended.
    assert "match 1: X won 1 (1.000), O won 0 (0.000), drawn 0 (0.000); seen 1" in written
    assert written[-1] == "match 2: X won 2 (1.000), O won 0 (0.000), drawn 0 (0.000); seen 2"


@pytest.mark.parametrize("answers", [[], ["exit"], ["y", "Quit"], ["y", "1,1", "quit"]])
def test_leaving_at_any_prompt_is_quiet(answers: list[str]) -> None:
    written, _ = dialogue(answers, FirstLegal())
    assert written[-1] == ""


def test_q_is_a_square() -> None:
    written, _ = dialogue(["y", "q"], FirstLegal())
    assert "X O .\n. . .\n. . ." in written


def test_ctrl_c_leaves_quietly() -> None:
    def read(_: str) -> str:
        raise KeyboardInterrupt

    written: list[str] = []
    Console(make_game("tictactoe"), FirstLegal(), read, written.append, key=0).play()
    assert written[-1] == ""


def run_script(tmp_path: Path, keys: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, PROJECT / "play" / "console.py", f"run_dir={tmp_path / 'run'}", *arguments]
    return subprocess.run(command, input=keys, capture_output=True, text=True, env=os.environ, timeout=120)


def test_the_script_plays_the_random_player_and_leaves_at_the_end_of_input(tmp_path: Path) -> None:
    done = run_script(tmp_path, "y\n1,1\n", "--level", "0")
    assert done.returncode == 0, done.stderr
    assert "tictactoe against random" in done.stdout
    assert "It plays" in done.stdout
    assert done.stderr == ""
    assert not (tmp_path / "run").exists()


def test_the_script_plays_any_named_player(tmp_path: Path) -> None:
    done = run_script(tmp_path, "n\n", "opponent=perfect?ties=lowest")
    assert done.returncode == 0, done.stderr
    assert "tictactoe against perfect" in done.stdout
    assert "It plays 0,0, value +0.00." in done.stdout
    wrong = run_script(tmp_path, "", "--opponent", "nobody")
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("error: unknown player 'nobody'; there are random, perfect")


def test_the_script_names_a_level_that_is_not_there(tmp_path: Path) -> None:
    done = run_script(tmp_path, "", "--level", "17")
    assert done.returncode == 1
    assert done.stderr == f"error: {tmp_path / 'run'} has no level 17; it has no trained level yet\n"


def test_the_script_plays_no_random_player_unasked(tmp_path: Path) -> None:
    done = run_script(tmp_path, "y\n")
    assert done.returncode == 1
    assert done.stderr == f"error: {tmp_path / 'run'} has no trained level; level=0 is the random player\n"
    assert done.stdout == ""
