"""Matches between two players, thousands of them in lockstep: each step plays one ply of every match."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from selfplay.games.game import Game, State
from selfplay.players.player import Player
from selfplay.players.random import RandomPlayer
from selfplay.randomness import Draws

MATCH_OVER = -1
DEFAULT_BATCH_SIZE = 16384


class MatchRecord(NamedTuple):
    """Every ply of B matches; T is the number of plies of the longest."""

    match: Tensor
    """int64[B]: the number of each match."""
    seats: Tensor
    """int8[B]: which of the two players (0 or 1) moves first."""
    states: tuple[State, ...]
    """T + 1 states: before the first ply, and after each."""
    actions: tuple[Tensor, ...]
    """T times int64[B]: the action of each ply; MATCH_OVER in matches that were over."""

    def returns(self) -> Tensor:
        """float32[B] in {-1, 0, 1}: the return of the first of the two players, in whichever seat."""
        return self.states[-1].returns_to(self.seats)

    def action_sequences(self) -> Tensor:
        """int64[B, T]: the actions of each match in order, MATCH_OVER after its end."""
        return torch.stack(self.actions, dim=1)


def play_batch(
    game: Game, players: tuple[Player, Player], match: Tensor, seats: Tensor, key: int, opening_plies: int = 0
) -> MatchRecord:
    """Play the matches numbered `match` (int64[B]) to their ends.

    Args:
        players: the two players; may be one and the same.
        seats: int8[B], which of them moves first in each match.
        key: the stream of random numbers, from `selfplay.randomness.stream_key`.
        opening_plies: so many plies at the start are random, the same ones in the matches 2n and 2n + 1, which then
            show both players on both sides of one opening.
    """
    opening = RandomPlayer(game)
    state = game.init(len(match))
    states: list[State] = [state]
    actions: list[Tensor] = []
    while not bool(state.terminated.all()):
        if len(actions) < opening_plies:
            action = opening.act(state, Draws(key, match // 2, len(actions)))
        else:
            action = _choose(players, state, seats, Draws(key, match, len(actions)))
        actions.append(torch.where(state.terminated, MATCH_OVER, action))
        state = game.step_unchecked(state, action)
        states.append(state)
    return MatchRecord(match, seats, tuple(states), tuple(actions))


def _choose(players: tuple[Player, Player], state: State, seats: Tensor, draws: Draws) -> Tensor:
    if players[0] is players[1]:
        return players[0].act(state, draws)
    action = torch.zeros_like(state.own)
    to_move = seats ^ state.current_player
    for number, player in enumerate(players):
        rows = ((to_move == number) & ~state.terminated).nonzero()[:, 0]
        if len(rows):
            action[rows] = player.act(state.select(rows), draws._replace(match=draws.match[rows]))
    return action


def play_matches(
    game: Game,
    players: tuple[Player, Player],
    matches: range,
    key: int,
    *,
    alternate: bool = True,
    learn: bool = True,
    opening_plies: int = 0,
    batch_size: int = DEFAULT_BATCH_SIZE,
) -> Iterator[MatchRecord]:
    """Play the matches of these numbers, in batches; the batch size changes no match.

    If a player learns, the matches are played one at a time and each is shown to it before the next one begins.

    Args:
        alternate: the first player moves first in the matches with even numbers, second in the others; without it,
            first in all.
        learn: whether players that learn from their matches do so.
        opening_plies: as for `play_batch`.
    """
    learners = [player for player in dict.fromkeys(players) if player.learns and learn]
    batch_size = 1 if learners else batch_size
    for start in range(0, len(matches), batch_size):
        chunk = matches[start : start + batch_size]
        match = torch.arange(chunk.start, chunk.stop, chunk.step)
        seats = (match % 2 if alternate else torch.zeros_like(match)).to(torch.int8)
        record = play_batch(game, players, match, seats, key, opening_plies)
        for learner in learners:
            learner.after_match(record, seats_held(players, learner, int(seats[0])))
        yield record


def seats_held(players: tuple[Player | None, Player | None], player: Player, first: int) -> tuple[int, ...]:
    """The seats of `player` in a match in which number `first` of the players moves first."""
    return tuple(seat for seat in range(2) if players[seat ^ first] is player)
