"""Matches between two players, thousands of them in lockstep: each step plays one ply of every match."""

import logging
from collections.abc import Iterator

import torch
from torch import Tensor

from selfplay.compute.devices import CPU
from selfplay.compute.random_numbers import Draws
from selfplay.errors import ForfeitError
from selfplay.games.game import Game
from selfplay.games.match_record import MATCH_OVER, Forfeit, MatchRecord, forfeited_state
from selfplay.games.state import State
from selfplay.players.device_memory import fitting_batch_size
from selfplay.players.player import Player
from selfplay.players.random import RandomPlayer

log = logging.getLogger(__name__)


def playing_device(players: tuple[Player, Player], device: str) -> str:
    """Where their matches are played if `device` (cpu, cuda) is to be used: on the CPU unless both can play there."""
    return device if all(player.plays_anywhere for player in players) else CPU


def play_batch(
    game: Game,
    players: tuple[Player, Player],
    match: Tensor,
    seats: Tensor,
    key: int,
    opening_plies: int = 0,
    device: str = CPU,
) -> MatchRecord:
    """Play the matches numbered `match` (int64[B]) to their ends. Their record is in the memory of the CPU.

    Args:
        players: the two players; may be one and the same.
        seats: int8[B], which of them moves first in each match.
        key: the stream of random numbers, from `selfplay.compute.random_numbers.stream_key`.
        opening_plies: so many plies at the start are random, the same ones in the matches 2n and 2n + 1, which then
            show both players on both sides of one opening.
        device: cpu or cuda. The players compute there from now on, and the matches are played there if both can.

    Raises ValueError if a player that `follows` is to play several matches at once.
    """
    if len(match) != 1 and any(player.follows for player in players):
        raise ValueError("a player that follows its match can only play one at a time")
    for player in players:
        player.move_to(device)
    place = playing_device(players, device)
    match, seats = match.to(place), seats.to(place)
    opening = RandomPlayer(game)
    state = game.init(len(match), place)
    states: list[State] = [state]
    actions: list[Tensor] = []
    while not bool(state.terminated.all()):
        if len(actions) < opening_plies:
            action = opening.act(state, Draws(key, match // 2, len(actions)))
        else:
            told = [int(action) for action in actions] if players[0].follows or players[1].follows else []
            try:
                action = _choose(players, state, seats, Draws(key, match, len(actions)), told)
            except ForfeitError as error:
                return _forfeited(MatchRecord(match, seats, tuple(states), tuple(actions)), str(error))
        actions.append(torch.where(state.terminated, MATCH_OVER, action))
        state = game.step_unchecked(state, action)
        states.append(state)
    return MatchRecord(match, seats, tuple(states), tuple(actions)).on_cpu()


def _choose(players: tuple[Player, Player], state: State, seats: Tensor, draws: Draws, told: list[int]) -> Tensor:
    if players[0] is players[1]:
        return _act(players[0], state, draws, told)
    action = torch.zeros_like(state.own)
    to_move = seats ^ state.current_player
    for number, player in enumerate(players):
        rows = ((to_move == number) & ~state.terminated).nonzero()[:, 0]
        if len(rows):
            action[rows] = _act(player, state.select(rows), draws._replace(match=draws.match[rows]), told)
    return action


def _act(player: Player, state: State, draws: Draws, told: list[int]) -> Tensor:
    if player.follows:
        player.follow(told)
    return player.act(state, draws)


def _forfeited(record: MatchRecord, reason: str) -> MatchRecord:
    """A record of one match, ended by the player to move."""
    log.info("match %d: %s", int(record.match), reason)
    state = record.states[-1]
    forfeit = Forfeit(int(record.match), int(record.seats ^ state.current_player), reason)
    return record._replace(states=(*record.states[:-1], forfeited_state(state)), forfeits=(forfeit,))


def play_matches(
    game: Game,
    players: tuple[Player, Player],
    matches: range,
    key: int,
    *,
    alternate: bool = True,
    learn: bool = True,
    opening_plies: int = 0,
    batch_size: int | None = None,
    device: str = CPU,
) -> Iterator[MatchRecord]:
    """Play the matches of these numbers, in batches; the batch size changes no match.

    If a player learns, the matches are played one at a time and each is shown to it before the next one begins. If one
    follows its matches, they are played one at a time too, and one that it forfeits ends there; the log says why.

    Args:
        alternate: the first player moves first in the matches with even numbers, second in the others; without it,
            first in all.
        learn: whether players that learn from their matches do so.
        opening_plies, device: as for `play_batch`.
        batch_size: None: as `selfplay.players.device_memory.fitting_batch_size`.
    """
    learners = [player for player in dict.fromkeys(players) if player.learns and learn]
    if learners or any(player.follows for player in players):
        batch_size = 1
    elif batch_size is None:
        batch_size = fitting_batch_size(game, players, playing_device(players, device))
    for start in range(0, len(matches), batch_size):
        chunk = matches[start : start + batch_size]
        match = torch.arange(chunk.start, chunk.stop, chunk.step)
        seats = (match % 2 if alternate else torch.zeros_like(match)).to(torch.int8)
        record = play_batch(game, players, match, seats, key, opening_plies, device)
        # The end of a forfeited match says nothing about the position.
        for learner in learners if not record.forfeits else ():
            learner.after_match(record, seats_held(players, learner, int(seats[0])))
        yield record


def seats_held(players: tuple[Player | None, Player | None], player: Player, first: int) -> tuple[int, ...]:
    """The seats of `player` in a match in which number `first` of the players moves first."""
    return tuple(seat for seat in range(2) if players[seat ^ first] is player)
