"""A game tree written as nested lists of payoffs, such as the example tables of textbooks.

    PayoffTree([[3, -2, 2], [-1, 0, 4], [-4, -3, 1]])

Player A moves first and chooses a list (A1, A2, ...), then player B chooses within it (B1, B2, ...), and so on. A
number ends the match: A receives it and B loses it.
"""

from collections.abc import Sequence
from sys import float_info
from typing import Any, NamedTuple

import torch
from torch import Tensor

from selfplay.compute.bit_algebra import Word, rule
from selfplay.compute.compiled_words import as_word
from selfplay.compute.positions import number, position
from selfplay.errors import SettingError
from selfplay.games.game import Game
from selfplay.games.presentation import Presentation
from selfplay.games.rules import Rules
from selfplay.games.state import State

MOST_POSITIONS, MOST_MOVES = 1000, 31


class Nodes(NamedTuple):
    """The positions of a tree by number; 0 is the start."""

    children: tuple[tuple[int, ...], ...]
    payoffs: tuple[float, ...]
    """The payoff to the player to move; 0 where the match is not over."""
    plies: tuple[int, ...]


def nodes_of(payoffs: Any) -> Nodes:
    """The positions of a tree, level by level. Raises SettingError if `payoffs` are not nested lists of numbers."""
    trees, children, values, plies = [(payoffs, 0)], list[tuple[int, ...]](), list[float](), list[int]()
    for tree, ply in trees:  # grows while it is read
        branches: Sequence[Any] = tree if isinstance(tree, list | tuple) else ()
        is_valid = 0 < len(branches) <= MOST_MOVES if branches is tree else ply > 0 and _is_finite(tree)
        if not is_valid or len(trees) + len(branches) > MOST_POSITIONS:
            raise SettingError(
                f"payoffs: must be nested lists of numbers, such as [[3,-2],[0,1]], each list with 1 to {MOST_MOVES} "
                f"entries, and at most {MOST_POSITIONS:,} positions"
            )
        children.append(tuple(range(len(trees), len(trees) + len(branches))))
        values.append(0.0 if branches is tree else (-1.0) ** ply * tree)
        plies.append(ply)
        trees += [(branch, ply + 1) for branch in branches]
    return Nodes(tuple(children), tuple(values), tuple(plies))


def _is_finite(number: object) -> bool:
    return isinstance(number, int | float) and abs(number) <= float_info.max


class PayoffTreePresentation(Presentation):
    player_names = ("A", "B")

    def __init__(self, game: "PayoffTree") -> None:
        super().__init__(game)
        self.game: PayoffTree = game

    def board_text(self, state: State, row: int = 0, values: Any = None) -> str:
        """The payoffs to A that can still be reached, as a table if each player has one choice left."""
        game, at = self.game, int(state.position[row])
        rows = [game.payoffs_after(child) for child in game.nodes.children[at]]
        numbers = [row for row in rows if isinstance(row, list) and not any(isinstance(cell, list) for cell in row)]
        if game.nodes.plies[at] or len(numbers) < len(rows):
            return f"payoffs to A: {game.payoffs_after(at)}"
        width = max(len(f"{payoff:+g}") for row in rows for payoff in row)
        lines = [" ".join(f"{payoff:+g}".rjust(width) for payoff in row) for row in rows]
        heading = " ".join(f"B{column + 1}".rjust(width) for column in range(max(map(len, rows))))
        return "\n".join(["   " + heading, *(f"A{number + 1} {line}" for number, line in enumerate(lines))])


class PayoffTree(Game):
    """The game of a tree of payoffs."""

    name = "payoff_tree"
    presentation_class = PayoffTreePresentation
    observation_shape = (MOST_POSITIONS.bit_length(),)

    def __init__(self, payoffs: Any) -> None:
        self.nodes = nodes_of(payoffs)
        self.max_moves = max(map(len, self.nodes.children))
        self.num_distinct_actions = 2 * self.max_moves
        self.max_game_length = max(self.nodes.plies)
        self.rules = _rules(self.nodes, self.max_moves)

    def state_at(self, position: Tensor) -> State:
        numbers = position[:, 0].tolist()
        terminated = torch.tensor([not self.nodes.children[number] for number in numbers])
        returns = torch.tensor([self.nodes.payoffs[number] for number in numbers], dtype=torch.float32).sign()
        return State(position, torch.zeros_like(terminated, dtype=torch.int8), terminated, returns)

    def payoffs_after(self, number: int) -> Any:
        """The payoffs to A after position `number`, as nested lists; a number where the match is over."""
        children = self.nodes.children[number]
        if children:
            return [self.payoffs_after(child) for child in children]
        return (-1.0) ** self.nodes.plies[number] * self.nodes.payoffs[number] + 0.0

    def action_to_string(self, action: int) -> str:
        player, number = divmod(action, self.max_moves)
        return f"{'AB'[player]}{number + 1}"


def _rules(nodes: Nodes, max_moves: int) -> Rules:
    """The actions of A are 0 to `max_moves` - 1, those of B follow."""
    first = tuple(children[0] if children else 0 for children in nodes.children)
    count, payoffs = tuple(map(len, nodes.children)), nodes.payoffs
    shift = tuple(max_moves * (ply % 2) for ply in nodes.plies)

    @position
    class Position(NamedTuple):
        node: int = number(MOST_POSITIONS.bit_length())

    @rule
    def legal_actions(p: Position) -> Word:
        return as_word((1 << count[p.node]) - 1 << shift[p.node])

    @rule
    def play(p: Position, action: int) -> Position:
        return Position(first[p.node] + action - shift[p.node])

    @rule
    def payoff(p: Position) -> float:
        return payoffs[p.node]

    @rule
    def return_to_move(p: Position) -> int:
        return (payoffs[p.node] > 0) - (payoffs[p.node] < 0)

    return Rules(Position(0), legal_actions, play, return_to_move=return_to_move, margin=payoff)
