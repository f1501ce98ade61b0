"""The matches from which rows are made: of a level against itself, earlier levels or another player."""

from collections.abc import Callable, Iterator
from functools import cache

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Activity, Draws, Purpose, below, stream_key
from selfplay.errors import SettingError
from selfplay.games import Game
from selfplay.games.outcomes import Outcome
from selfplay.games.state import MatchRecord
from selfplay.learners.learner import Resources
from selfplay.matches.arena import USUAL_BATCH_SIZE, Players, play_batch
from selfplay.matches.series import Series
from selfplay.players.capabilities import Searches
from selfplay.players.exploring import EpsilonGreedyPlayer, OpeningPlayer
from selfplay.players.kept_searches import KeepsSearches
from selfplay.players.player import Player
from selfplay.search.exact_outcomes import require_exact_outcomes

RecordedMatches = tuple[MatchRecord, Players]
"""Matches between the same two players, and these players, the level itself first."""


def generation_key(seed: int, level: int) -> int:
    """The stream of random numbers of the matches of a level."""
    return stream_key(seed, level, Activity.GENERATION)


def against_one(
    game: Game, players: Players, matches: range, key: int, resources: Resources
) -> Iterator[list[RecordedMatches]]:
    """Matches of two players, a batch at a time."""
    series = Series(matches, key, batch_size=resources.batch_size, device=resources.device)
    for record in series.records(game, players):
        # The result of a forfeited match says nothing about its positions.
        if not record.forfeits:
            yield [(record, players)]


def against_pool(
    game: Game, player_of: Callable[[int], Player], level: int, matches: range, key: int, resources: Resources
) -> Iterator[list[RecordedMatches]]:
    """Matches of a level against itself and earlier levels, a batch at a time, with a record per opponent.

    The level moves first in matches with even numbers.
    """
    players = cache(player_of)
    for numbers in torch.split(torch.arange(matches.start, matches.stop), resources.batch_size or USUAL_BATCH_SIZE):
        opponents = drawn_opponents(key, numbers, level)
        records = []
        for opponent in sorted(set(opponents.tolist())):
            match = numbers[opponents == opponent]
            pair = players(level), players(opponent)
            record = play_batch(game, pair, match, (match % 2).to(torch.int8), key, device=resources.device)
            records.append((record, pair))
        yield records


def drawn_opponents(key: int, matches: Tensor, level: int) -> Tensor:
    """int64[B]: the level that is the opponent in each of the matches numbered `matches` (int64[B]).

    Half of the matches are against the level itself, and the earlier levels (level 0 is the random player) share the
    rest equally.
    """
    drawn: Tensor = below(Draws(key, matches, 0).bits(Purpose.OPPONENT), 2 * level)
    return torch.where(drawn < level, drawn, level)


def with_opening(game: Game, player: Player, plies: int) -> Player:
    """The player, whose matches begin with 0 to this number of random plies."""
    return OpeningPlayer(game, player, plies) if plies else player


def exploring(game: Game, player: Player, epsilons: list[float], opening_plies: int, keeps_values: bool) -> Player:
    """The player with an opening and with exploration, by its own rates if it has some.

    `keeps_values`: whether the values that its searches find are learned.
    """
    if isinstance(player, EpsilonGreedyPlayer):
        epsilons, player = list(player.epsilons), player.player
    if keeps_values and isinstance(player, Searches):
        player = KeepsSearches(player)
    return with_opening(game, EpsilonGreedyPlayer(game, player, epsilons), opening_plies)


def check_matches(game: Game, outcome: Outcome, opening_plies: int, exact_from: int | None) -> None:
    """Raise SettingError for openings longer than a match, or exact values that no solver finds."""
    if opening_plies > game.max_game_length:
        most = game.max_game_length
        raise SettingError(f"opening_plies={opening_plies}: matches of {game.name} have at most {most} plies")
    if exact_from is not None:
        require_exact_outcomes(game, outcome, exact_from)
