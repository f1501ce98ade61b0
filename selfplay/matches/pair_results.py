"""Series of matches between two players, played in parallel by an executor, and their counted results."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.devices import CPU
from selfplay.executors import Executor
from selfplay.games import Game
from selfplay.games.win_draw_loss import WinDrawLoss
from selfplay.matches.arena import RunningResults, play_matches
from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer
from selfplay.players.player import Player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.run_folder import prepare_process
from selfplay.settings.common import AnySettings

PlayerId = TypeVar("PlayerId")


class PairResult(NamedTuple):
    """Results of a series of matches between two players, counted for the first of them."""

    results: WinDrawLoss[int]
    distinct: int
    """Number of matches that differ in an action or in who moved first."""
    forfeits: int = 0
    """Number of losses that the player forfeited."""
    opponent_forfeits: int = 0
    """Number of wins in which the opponent forfeited."""


class PairMatches(NamedTuple, Generic[AnySettings, PlayerId]):
    """A series of matches between two players, as a task for an executor."""

    settings: AnySettings
    pair: tuple[PlayerId, PlayerId]
    make: Callable[[AnySettings, Game, PlayerId], Player]
    """Makes either player; a function at the top level of a module."""
    matches: int
    key: int
    """The stream of random numbers, from `selfplay.compute.random_numbers.stream_key`."""
    opening_plies: int = 0
    epsilons: Sequence[float] = ()
    """The exploration rates of both players by ply."""


def play_pairs(
    tasks: Sequence[PairMatches[AnySettings, PlayerId]],
    executor: Executor,
    files: Sequence[Path] = (),
    progress: ProgressBar = NoProgress,
    description: str = "",
) -> list[PairResult]:
    """Play each series; the executor may play several of them at the same time.

    `files`: the files that the players are made from, as for `Executor.map`.
    """
    results: list[PairResult] = []
    with closing(progress(total=len(tasks), desc=description)) as bar:
        for result in executor.map(play_pair, tasks, files):
            results.append(result)
            bar.update(1)
    return results


def play_pair(task: PairMatches[AnySettings, PlayerId]) -> PairResult:
    """Play one series. The players do not learn from it."""
    context = prepare_process(task.settings)
    one, other = (_player(task, context.game, player_id) for player_id in task.pair)
    size, device = task.settings.batch_size, context.device
    return count_matches(context.game, (one, other), task.matches, task.key, size, task.opening_plies, device)


def _player(task: PairMatches[AnySettings, PlayerId], game: Game, player_id: PlayerId) -> Player:
    player = task.make(task.settings, game, player_id)
    return EpsilonGreedyPlayer(game, player, task.epsilons) if any(task.epsilons) else player


def count_matches(
    game: Game,
    players: tuple[Player, Player],
    matches: int,
    key: int,
    batch_size: int | None,
    opening_plies: int = 0,
    device: str = CPU,
    *,
    alternate: bool = True,
) -> PairResult:
    """Play `matches` matches and count their results for the first player.

    The players do not learn from the matches. `key`, `batch_size`, `opening_plies`, `device`, `alternate`: as for
    `selfplay.matches.arena.play_matches`.
    """
    counted = RunningResults()
    seen: set[tuple[int, bytes]] = set()
    for record in play_matches(
        game,
        players,
        range(matches),
        key,
        alternate=alternate,
        learn=False,
        opening_plies=opening_plies,
        batch_size=batch_size,
        device=device,
    ):
        counted = counted.with_record(record)
        seen.update(zip(record.seats.tolist(), _lines(record.action_sequences().numpy()), strict=True))
    return PairResult(counted.by_player, len(seen), *counted.forfeits)


def _lines(actions: NDArray[np.int64]) -> Iterator[bytes]:
    """Each row of `actions` (int64[B, T]) up to the end of its match."""
    return (np.trim_zeros(line + 1, "b").tobytes() for line in actions)
