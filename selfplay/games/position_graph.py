"""All positions of a small game, the actions between them, and perfect play by backward induction.

A position is seen by the player to move, so one entry is enough for both players. Values are computed backwards from
the ends of matches to the start. The *height* of a position is the largest number of plies that can still be played
from it; all its children have smaller heights.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.errors import ConformanceError, GameTooLargeError, IllegalActionError
from selfplay.games import make_game
from selfplay.games.conformance_checks import REPEATED
from selfplay.games.distinct_positions import distinct_positions
from selfplay.games.game import Game
from selfplay.games.state import State

NO_CHILD = -1
LARGEST_ENUMERATION = 1_000_000
SAMPLE, SAMPLED_PLIES = 1_000, 100_000
"""Number of random matches for a first estimate of the number of positions; fewer if matches are so long that their
plies would be more than these."""


class PositionGraph:
    """The N positions reachable from the start of a game; number 0 is the start.

    Attributes:
        state: State of N matches with player 0 to move, one per position.
        children: int32[N, A], the number of the position that each action leads to; NO_CHILD where illegal.
        return_to_move: float64[N], the return of the player to move where the match is over; 0 elsewhere.
        moves_again: bool[N], whether the player to move has also made the last move.
    """

    def __init__(self, game: Game, state: State, children: NDArray[np.int32], moves_again: NDArray[np.bool_]) -> None:
        self.game = game
        self.state = state
        self.children = children
        self.moves_again = moves_again
        self.return_to_move: NDArray[np.float64] = state.returns.numpy().astype(np.float64)

    def __len__(self) -> int:
        return len(self.children)

    @cached_property
    def legal(self) -> NDArray[np.bool_]:
        """bool[N, A]: which actions are legal."""
        legal: NDArray[np.bool_] = self.children != NO_CHILD
        return legal

    @cached_property
    def terminated(self) -> NDArray[np.bool_]:
        """bool[N]: whether the match is over in each position."""
        terminated: NDArray[np.bool_] = self.state.terminated.numpy()
        return terminated

    @cached_property
    def heights(self) -> NDArray[np.int64]:
        """int64[N]: the largest number of plies that can still be played; 0 where the match is over.

        Raises ConformanceError if positions can repeat.
        """
        heights, growing = np.zeros(len(self), dtype=np.int64), len(self)
        while growing:
            grown = np.where(self.legal, heights[self.children] + 1, 0).max(axis=1)
            # Round k changes the positions higher than k. Such a position has followers of every smaller height.
            were_growing, growing = growing, int(np.count_nonzero(grown != heights))
            if growing == were_growing:
                raise ConformanceError(f"{self.game.name}: {REPEATED}")
            heights = grown
        return heights

    @cached_property
    def movers(self) -> NDArray[np.bool_]:
        """bool[2, N]: whether each position can occur with the first player to move, and with the second player to
        move."""
        movers = np.zeros((2, len(self)), dtype=np.bool_)
        movers[0, 0] = True
        for group in reversed(list(self.backwards())):
            legal, children = self.legal[group], self.children[group]
            for player in range(2):
                reached = children[legal & movers[player, group, None]]
                movers[np.where(self.moves_again[reached], player, 1 - player), reached] = True
        return movers

    def after(self, numbers: Any, same: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
        """[..., A, ...]: what belongs to each action in positions with these numbers (int64[...]).

        Any number where the action is illegal.

        Args:
            same: [N, ...], what belongs to the position after the action if the same player moves again there.
            other: the same for the other player.
        """
        children = self.children[numbers]
        found: NDArray[Any] = other[children]
        if not self.takes_turns:
            again = self.moves_again[children]
            found = np.where(again.reshape(again.shape + (1,) * (found.ndim - again.ndim)), same[children], found)
        return found

    @cached_property
    def takes_turns(self) -> bool:
        """Whether the players take turns, so that none ever moves again."""
        return not self.moves_again.any()

    def values_of_children(self, values: NDArray[np.float64], numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """float64[B, A]: the value of each action to the player to move in these positions (int64[B]).

        Args:
            values: float64[N], of each position to the player to move there.
        """
        children = self.children[numbers]
        reached: NDArray[np.float64] = values[children]
        return -reached if self.takes_turns else np.where(self.moves_again[children], reached, -reached)

    def numbers(self, state: State) -> NDArray[np.int64]:
        """int64[B]: the number of each match's position.

        Raises IllegalActionError if a position cannot be reached from the start.
        """
        order, keys = self._index
        places = np.minimum(np.searchsorted(keys, _keys(state)), len(keys) - 1)
        numbers: NDArray[np.int64] = order[places]
        if not np.array_equal(self.state.position.numpy()[numbers], state.position.numpy()):
            raise IllegalActionError(f"{self.game.name}: a position that cannot be reached from the start")
        return numbers

    @cached_property
    def _index(self) -> tuple[NDArray[np.int64], NDArray[np.void]]:
        """The positions in the order of their keys, and these keys."""
        keys = _keys(self.state)
        order = np.argsort(keys)
        return order, keys[order]

    def backwards(self) -> Iterator[NDArray[np.int64]]:
        """The numbers of the unfinished positions, in groups of equal height, lowest first."""
        for height in range(1, int(self.heights.max()) + 1):
            yield np.flatnonzero(self.heights == height)


def perfect_values(graph: PositionGraph | Game | str) -> NDArray[np.float64]:
    """float64[N] in {-1, 0, 1}: the return of the player to move when both play perfectly from each position.

    Zermelo's backward induction: v(s) = max over actions of sign(child) * v(child), v = the return where the match is
    over. The sign is -1, or 1 where the same player moves again.

    Examples:
        >>> graph = selfplay.enumerate_positions("tictactoe")
        >>> state = graph.game.state_after(["1,1", "0,1"])
        >>> selfplay.perfect_values(graph)[graph.numbers(state)].tolist()  # X wins
        [1.0]
    """
    graph = enumerate_positions(graph)
    values = graph.return_to_move.copy()
    for group in graph.backwards():
        replies = np.where(graph.legal[group], graph.values_of_children(values, group), -np.inf)
        values[group] = replies.max(axis=1)
    return values


def optimal_actions(graph: PositionGraph, values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """bool[N, A]: the legal actions that keep the perfect value of each position. `values` from `perfect_values`."""
    optimal: NDArray[np.bool_] = graph.legal & (
        graph.values_of_children(values, np.arange(len(graph))) == values[:, None]
    )
    return optimal


def is_surely_larger(game: Game, limit: int) -> bool:
    """Whether random matches visit more than `limit` different positions. False proves nothing.

    If a first sample visits mostly different positions, as in a large game, some more matches soon show that there are
    too many. Otherwise only an enumeration gives the answer.
    """
    matches = min(SAMPLE, 1 + SAMPLED_PLIES // game.max_game_length)
    positions, different = _positions_met(game, matches)
    if different <= positions // 2:
        return False
    return _positions_met(game, matches * limit // different * 3 // 2)[1] > limit


def _positions_met(game: Game, matches: int) -> tuple[int, int]:
    """The number of unfinished positions that random matches visit, and the number of different ones.

    Finished matches are left out: they repeat their last position until the longest match ends.
    """
    key, match = stream_key(0, 0, Activity.GENERATION), torch.arange(matches)
    states = [game.init(matches)]
    while len(states) <= game.max_game_length and not bool(states[-1].terminated.all()):
        draws = Draws(key, match, len(states))
        states.append(game.step_unchecked(states[-1], game.kernels.random_actions(states[-1], draws)))
    met = State(*(torch.cat(field) for field in zip(*states, strict=True)))
    met = met.select(~met.terminated)
    return met.batch_size, len(distinct_positions(met.position)[0])


_graphs: dict[object, PositionGraph] = {}


def positions_of(game: Game | str) -> PositionGraph:
    """All positions of a game (or its name), enumerated once per process. Raises as `enumerate_positions`."""
    game = make_game(game)
    if game.identity not in _graphs:
        _graphs[game.identity] = enumerate_positions(game)
    return _graphs[game.identity]


def enumerate_positions(game: PositionGraph | Game | str, limit: int = LARGEST_ENUMERATION) -> PositionGraph:
    """All positions reachable from the start of a game, which may be given by its name; a graph is returned as it is.

    Raises GameTooLargeError if there are more than `limit`.

    Examples:
        >>> graph = selfplay.enumerate_positions("tictactoe")
        >>> len(graph), graph.terminated.sum().item()
        (5478, 958)
    """
    if isinstance(game, PositionGraph):
        return game
    game = make_game(game)
    if is_surely_larger(game, limit):
        raise _too_large(game, limit)
    frontier = game.init(1)
    numbers = dict.fromkeys(_keys(frontier).tolist(), 0)
    positions, again, edges = [frontier.position], [np.array([False])], []
    while frontier.batch_size:
        parents, actions = game.legal_action_mask(frontier).nonzero(as_tuple=True)
        first_parent = len(numbers) - frontier.batch_size
        following = game.step_unchecked(frontier.select(parents), actions)
        fresh, targets = [], []
        for row, key in enumerate(_keys(following).tolist()):
            if key not in numbers:
                numbers[key] = len(numbers)
                fresh.append(row)
            targets.append(numbers[key])
        if len(numbers) > limit:
            raise _too_large(game, limit)
        edges.append(np.stack([parents.numpy() + first_parent, actions.numpy(), np.array(targets, dtype=np.int64)]))
        reached = following.select(torch.tensor(fresh, dtype=torch.int64))
        positions.append(reached.position)
        # Player 0 moves in all positions of the frontier.
        again.append(reached.current_player.numpy() == 0)
        frontier = reached._replace(current_player=torch.zeros_like(reached.current_player))
    children = np.full((len(numbers), game.num_distinct_actions), NO_CHILD, dtype=np.int32)
    parent, action, target = np.concatenate(edges, axis=1)
    children[parent, action] = target
    return PositionGraph(game, game.state_at(torch.cat(positions)), children, np.concatenate(again))


def _keys(state: State) -> NDArray[np.void]:
    """The bytes of each packed position, void[B]."""
    packed = np.ascontiguousarray(state.position.numpy())
    return packed.view(np.dtype((np.void, packed.itemsize * packed.shape[1])))[:, 0]


def _too_large(game: Game, limit: int) -> GameTooLargeError:
    return GameTooLargeError(
        f"{game.name} has more than {limit:,} positions, too many to enumerate; choose a smaller game"
    )
