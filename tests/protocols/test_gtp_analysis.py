"""Analyses by GTP: their reports, and that the next command ends them."""

import re
import time

import pytest

from selfplay.games import make_game
from selfplay.named_players.make import make_player
from selfplay.protocols.gtp.engine import GtpEngine
from selfplay.protocols.line_engine import answer_lines
from tests.support.stub_players import FirstLegal

INFO = re.compile(
    r"info move (\S+) visits (\d+) (?:utility \S+ )?winrate (\S+) prior (\S+) lcb \S+ order (\d+) pv ([^i]*)"
)


def conversation(engine, *lines, reports=0):
    """What the engine writes as answers to the lines; before the last one the controller waits for so many reports."""
    said = []

    def waiting():
        yield from lines[:-1]
        latest = time.monotonic() + 60
        while len(INFO.findall("".join(said))) < reports and time.monotonic() < latest:
            time.sleep(0.01)
        yield lines[-1]

    answer_lines(engine, waiting(), said.append)
    return "".join(said)


def searching(name="tictactoe", player="mcts:rollouts?simulations=50"):
    return GtpEngine(make_game(name), lambda game: make_player(player, game), 0)


MANY = 30
"""Moves in reports: more than one report has of a position with six free squares."""


@pytest.mark.parametrize(("command", "most"), [("lz-analyze", 10_000), ("kata-analyze", 1)])
def test_the_moves_of_a_tree_have_visits_rates_and_lines_until_the_next_command(command, most):
    # X at the centre and a corner: O must answer at the other corner.
    played = ["play b b2", "play w a1", "play b a2", "reg_genmove w"]
    said = conversation(searching(), *played, f"5 {command} w 1", "name", reports=MANY)
    answer = said.split("\n\n")[4]
    first, *reports = answer.split("\n")
    assert first == "=5"
    assert len(reports) > 1
    assert said.split("\n\n")[5] == "= selfplay mcts:rollouts?simulations=50"
    moves = INFO.findall(reports[-1])
    vertices = [move for move, *_ in moves]
    assert sorted(vertices) == sorted({"C2", "B1", "C1", "A3", "B3", "C3"} & set(vertices))
    assert vertices[0] == "C2"
    assert [int(order) for *_, order, _ in moves] == [*range(len(moves))]
    visits = [int(number) for _, number, *_ in moves]
    assert visits == sorted(visits, reverse=True)
    assert all(0 <= float(rate) <= most and 0 <= float(prior) <= most for _, _, rate, prior, *_ in moves)
    for move, *_, line in moves:
        assert line.split()[0] == move
        assert len({"B2", "A1", "A2", *line.split()}) == 3 + len(line.split())
    # Nothing is played.
    assert sum(visits) > 50


def test_an_analysis_ends_with_the_input_after_at_least_one_report_and_refuses_what_it_does_not_know():
    assert len(INFO.findall(conversation(searching(), "lz-analyze"))) >= 1
    assert conversation(searching(), "lz-analyze 1x") == "? syntax error\n\n"
    assert conversation(searching(), "lz-analyze w interval 10").startswith("? it is black's turn")


def test_players_without_a_tree_are_reported_with_their_values_or_their_move():
    said = conversation(GtpEngine(make_game("tictactoe"), FirstLegal, 0), "kata-analyze 100")
    assert [found[0] for found in INFO.findall(said)] == ["A1"]
    said = conversation(searching(player="perfect"), "play b a1", "kata-analyze 100")
    moves = INFO.findall(said)
    assert (moves[0][0], float(moves[0][2]), len(moves)) == ("B2", 0.5, 8)
    assert all(float(rate) == 0 for _, _, rate, *_ in moves[1:])
