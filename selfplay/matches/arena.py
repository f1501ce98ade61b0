"""Matches between two players, thousands of them in lockstep (each step plays one ply of every match), and their
results."""

import logging

import torch
from torch import Tensor

from selfplay.compute.devices import CPU
from selfplay.compute.random_numbers import Draws
from selfplay.errors import ConformanceError, ForfeitError, ResignError
from selfplay.games import Game
from selfplay.games.match import Match
from selfplay.games.state import MATCH_OVER, Forfeit, MatchRecord, State, forfeited_state
from selfplay.games.win_draw_loss import RunningResults
from selfplay.players.capabilities import EvaluatesOnDevice, FollowsMatch, ReportsStatus, capability
from selfplay.players.checked_player import checked_player
from selfplay.players.player import Player, RandomPlayer

log = logging.getLogger(__name__)

Players = tuple[Player, Player]


USUAL_BATCH_SIZE = 16384
"""Matches that are played in lockstep if no number is given."""


def play_batch(
    game: Game,
    players: Players,
    match: Tensor,
    seats: Tensor,
    key: int,
    opening_plies: int = 0,
    device: str = CPU,
) -> MatchRecord:
    """Play the matches numbered `match` (int64[B]) to their ends.

    Args:
        players: the two players; may be the same player twice. One that `FollowsMatch` plays one match at a time. The
            actions of players from outside this package are checked.
        seats: int8[B], which of them moves first in each match.
        opening_plies: number of random plies at the start. They are equal in the matches 2n and 2n + 1, so that both
            players play both sides of each opening.
        device: cpu or cuda. Players with networks evaluate positions there from now on.

    Raises:
        ConformanceError: the game does not end its matches within its `max_game_length`, or a player from outside
            acts as none may.
        SettingError: a player plays another game.
    """
    first = checked_player(players[0], game)
    players = first, first if players[1] is players[0] else checked_player(players[1], game)
    followers = [capability(player, FollowsMatch) for player in players]
    follow = followers != [None, None]
    for player in players:
        if evaluating := capability(player, EvaluatesOnDevice):
            evaluating.move_to(device)
    opening = RandomPlayer(game)
    state = game.init(len(match))
    states: list[State] = [state]
    actions: list[Tensor] = []
    while not bool(state.terminated.all()):
        if len(actions) >= game.max_game_length:
            raise ConformanceError(f"{game.name}: a match is longer than max_game_length={game.max_game_length}")
        if len(actions) < opening_plies:
            action = opening.act(state, Draws(key, match // 2, len(actions)))
        else:
            if follow and (follower := followers[int(seats ^ state.current_player)]) is not None:
                follower.follow(Match.of_states(game, states, [int(action) for action in actions]))
            try:
                action = _chosen_actions(players, state, seats, Draws(key, match, len(actions)))
            except ForfeitError as error:
                return _forfeited(MatchRecord(match, seats, tuple(states), tuple(actions)), error)
        actions.append(torch.where(state.terminated, MATCH_OVER, action))
        state = game.step_unchecked(state, action)
        states.append(state)
    return MatchRecord(match, seats, tuple(states), tuple(actions))


def _chosen_actions(players: Players, state: State, seats: Tensor, draws: Draws) -> Tensor:
    """int64[B]: the action of the player to move in each match."""
    if players[0] is players[1]:
        return players[0].act(state, draws)
    action = torch.zeros_like(draws.match)
    to_move = seats ^ state.current_player
    for number, player in enumerate(players):
        rows = ((to_move == number) & ~state.terminated).nonzero()[:, 0]
        if len(rows):
            action[rows] = player.act(state.select(rows), draws._replace(match=draws.match[rows]))
    return action


def _forfeited(record: MatchRecord, error: ForfeitError) -> MatchRecord:
    """A record of one match, lost by the player to move."""
    log.info("match %d: %s", int(record.match) + 1, error)
    state = record.states[-1]
    forfeit = Forfeit(
        int(record.match), int(record.seats ^ state.current_player), str(error), isinstance(error, ResignError)
    )
    return record._replace(states=(*record.states[:-1], forfeited_state(state)), forfeits=(forfeit,))


def seats_held(players: tuple[Player | None, Player | None], player: Player, first_player: int) -> tuple[int, ...]:
    """The seats of `player` in a match in which `players[first_player]` moves first."""
    return tuple(seat for seat in range(2) if players[seat ^ first_player] is player)


def results_text(game: Game, results: RunningResults, *players: Player, by_player: bool = False) -> str:
    """The results so far, by seat or by the names of the two players, and the status of each that reports one."""
    names = (players[0].name, players[1].name) if by_player else game.presentation.player_names
    text = results.text(names, by_player=by_player)
    return "; ".join([f"match {results.matches}: {text}", *statuses_of(*players)])


def statuses_of(*players: Player) -> list[str]:
    """The status of each player that reports one."""
    each = {player.unwrapped: capability(player, ReportsStatus) for player in players}
    return [str(reporting.status()) for reporting in each.values() if reporting is not None]
