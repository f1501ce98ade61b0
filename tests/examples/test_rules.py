"""The games of examples/: slow programs that share no code with them have the same rules, and the right side wins."""

import random

import pytest

from selfplay import Match, check_game, make_game
from tests.examples import slow_rules

GAMES = {
    "animals": ("Animals", 5),
    "ataxx": ("Ataxx", 3),
    "domineering": ("Domineering", 3),
    "havannah": ("Havannah", 3),
    "konane": ("Konane", 4),
    "loa": ("LinesOfAction", 3),
    "onitama": ("Onitama", 4),
    "oware": ("Oware", 6),
    "walls": ("Walls", 3),
    "y": ("Y", 3),
}
"""By the module, the class and the plies up to which sequences are counted."""
ENDS = {
    "animals": "b3n a1s b2n",
    "havannah": "e5 a5 f3 i5 f4 e9 e3 a9 d4 e1 d5",
    "walls": "b2s a5s b3s f5s b4r f4s c5l",
    "y": "a1 b2 a2 c3 a3 d4 a4 e5 a5 f6 a6 g7 a7 h8 a8 i9 a9",
}
"""Matches that the player who moves first wins: captures the lion, makes a ring, reaches the other end, connects three
sides."""


def made(name):
    return make_game(f"examples.{name}:{GAMES[name][0]}")


def sequences(moves, depth, *position):
    if depth == 0:
        return 1
    return sum(sequences(moves, depth - 1, after) for after in moves(*position))


def sequences_by(rules, depth, position):
    """The same by rules, which are not compiled."""
    legal = f"{int(rules.legal_actions(position)):b}"
    actions = [action for action, bit in enumerate(reversed(legal)) if bit == "1"]
    if depth == 1:
        return len(actions) or int(not rules.is_terminal(position))
    return sum(sequences_by(rules, depth - 1, rules.play(position, action)) for action in actions)


@pytest.mark.parametrize("name", GAMES)
def test_sequences_are_those_of_slow_rules(name):
    rules, moves, depths = made(name).rules, getattr(slow_rules, name), range(1, GAMES[name][1] + 1)
    expected = [sequences(moves, depth) for depth in depths]
    assert [sequences_by(rules, depth, rules.initial) for depth in depths] == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_compiled_rules_have_the_same_sequences(name):
    game, depth = made(name), GAMES[name][1]
    expected = sequences(getattr(slow_rules, name), depth)
    assert game.kernels.perft(game.rules.initial, depth, False) == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_the_game_is_accepted(name):
    check_game(made(name))


@pytest.mark.parametrize("name", ENDS)
def test_who_captures_arrives_or_connects_wins(name):
    match = Match(made(name))
    for move in ENDS[name].split():
        assert not match.is_over
        match = match.play(move)
    assert match.winner == 0


@pytest.mark.parametrize("seed", range(25))
def test_havannah_ends_with_the_first_ring_bridge_or_fork(seed):
    match, stones = Match(made("havannah")), (set(), set())
    cells = random.Random(seed).sample(sorted(slow_rules.HEXAGON), len(slow_rules.HEXAGON))
    for ply, (row, column) in enumerate(cells):
        match = match.play(9 * (row + 4) + column + 4)
        stones[ply % 2].add((row, column))
        if match.is_over:
            break
        assert not slow_rules.how_won(stones[ply % 2])
    assert match.winner == ply % 2
    assert slow_rules.how_won(stones[ply % 2])
