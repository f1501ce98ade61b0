"""Plays the matches of a level, shard by shard, and writes its dataset. Workers of an executor play the shards."""

import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cache
from itertools import tee
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Activity, Draws, Purpose, below, stream_key
from selfplay.dataset.formats import DATASET_FORMATS, DatasetFormat
from selfplay.dataset.match_rows import match_rows
from selfplay.dataset.rows import Rows, concatenate
from selfplay.dataset.target_rules import TARGET_RULES
from selfplay.dataset.targets import PlayedMatches
from selfplay.executors import Executor
from selfplay.games.outcomes import OUTCOMES
from selfplay.games.state import MatchRecord
from selfplay.matches.arena import USUAL_BATCH_SIZE, Players, play_batch, play_matches
from selfplay.players.player import Player
from selfplay.progress import ProgressBar
from selfplay.settings.context import RunContext, computing, context_of
from selfplay.settings.run import Settings
from selfplay.settings.task_files import task_files
from selfplay.stages.dataset_players import exploring_level, players_of_dataset

RecordedMatches = tuple[MatchRecord, Players]
"""Matches between the same two players, and these players, the level itself first."""


class Shard(NamedTuple):
    """A part of a level's matches. Its rows do not depend on where or with which other shards it is played."""

    settings: Settings
    level: int
    number: int
    """From 0."""
    matches: range


def shards_of(settings: Settings, level: int) -> Iterator[Shard]:
    """The shards of the matches of a level, in order."""
    size, matches = settings.dataset.shard_matches, range(settings.matches)
    for number, start in enumerate(range(0, len(matches), size)):
        yield Shard(settings, level, number, matches[start : start + size])


def play_shard(shard: Shard) -> tuple[bytes, int]:
    """Play the matches of a shard; returns its rows as bytes in the format of the dataset, and their number."""
    settings = shard.settings
    key = stream_key(settings.seed, shard.level, Activity.GENERATION)
    play = _against_pool if shard.level > 0 and settings.opponents == "pool" else _against_one
    form: DatasetFormat = DATASET_FORMATS[settings.dataset.format]
    with computing(settings) as context:
        parts = (_rows(context, shard, batch, key) for batch in play(context, shard, key))
        return form.encode(parts, context.game.observation_codec)


def _rows(context: RunContext[Settings], shard: Shard, batch: Iterable[RecordedMatches], key: int) -> Rows:
    """The rows of a batch of matches, ordered by match and ply."""
    settings = context.settings
    rule, outcome = TARGET_RULES[settings.targets], OUTCOMES[settings.outcome]
    parts = [
        match_rows(
            PlayedMatches(
                context.game,
                record,
                players,
                key,
                gamma=settings.gamma,
                outcome=outcome,
                value_share=settings.value_share,
                exact_from=settings.exact_from,
                # Level 0 plays at random to the end.
                opening_plies=settings.opening_plies if shard.level > 0 else 0,
            ),
            rule,
            settings.viewpoints,
        )
        for record, players in batch
    ]
    return parts[0] if len(parts) == 1 else concatenate(parts).in_order()


def _against_one(context: RunContext[Settings], shard: Shard, key: int) -> Iterator[list[RecordedMatches]]:
    """The matches of a level against itself or the named opponent, a batch at a time."""
    players = players_of_dataset(context.settings, context.game, shard.level)
    size, device = context.settings.batch_size, context.device
    for record in play_matches(context.game, players, shard.matches, key, learn=False, batch_size=size, device=device):
        # The result of a forfeited match says nothing about its positions.
        if not record.forfeits:
            yield [(record, players)]


def _against_pool(context: RunContext[Settings], shard: Shard, key: int) -> Iterator[list[RecordedMatches]]:
    """The matches of a level against itself and earlier levels, a batch at a time, with a record per opponent.

    The level moves first in matches with even numbers.
    """
    settings, game, device, level = context.settings, context.game, context.device, shard.level

    @cache
    def player_of(number: int) -> Player:
        if number == level:
            return players_of_dataset(settings, game, level)[0]
        return exploring_level(settings, game, number)

    size = settings.batch_size or USUAL_BATCH_SIZE
    for numbers in torch.split(torch.arange(shard.matches.start, shard.matches.stop), size):
        opponents = opponents_of(key, numbers, level)
        records = []
        for opponent in sorted(set(opponents.tolist())):
            match = numbers[opponents == opponent]
            players = player_of(level), player_of(opponent)
            record = play_batch(game, players, match, (match % 2).to(torch.int8), key, device=device)
            records.append((record, players))
        yield records


def opponents_of(key: int, matches: Tensor, level: int) -> Tensor:
    """int64[B]: the level that is the opponent in each of the matches numbered `matches` (int64[B]).

    Half of the matches are against the level itself, and the earlier levels (level 0 is the random player) share the
    rest equally.
    """
    drawn: Tensor = below(Draws(key, matches, 0).bits(Purpose.OPPONENT), 2 * level)
    return torch.where(drawn < level, drawn, level)


log = logging.getLogger(__name__)


def play_level(
    settings: Settings,
    level: int,
    agents: Sequence[Path],
    record: Mapping[str, Any],
    executor: Executor,
    progress: ProgressBar,
) -> int:
    """Play the matches of `level` that are not written yet; returns the number of rows of the dataset.

    Shards that an interrupted run wrote with the same `record` are kept. `agents`: the files of the levels that play.
    """
    start = time.perf_counter()
    context = context_of(settings)
    name = context.run.dataset(level, settings.dataset.format).name
    path = context.run.stage_folder(level, settings.output_dir) / name
    num_actions = context.game.num_distinct_actions if settings.has_policies else 0
    form: DatasetFormat = DATASET_FORMATS[settings.dataset.format]
    with (
        closing(progress(total=settings.matches, desc=f"level {level}: matches")) as bar,
        form.written(path, context.game.observation_codec, record, num_actions) as writer,
    ):
        rows = sum(writer.written.values())
        if found := [shard for shard in shards_of(settings, level) if shard.number in writer.written]:
            count = -(-settings.matches // settings.dataset.shard_matches)
            log.info("level %d: %d of %d shards already written", level, len(found), count)
            bar.update(sum(len(shard.matches) for shard in found))
        files = task_files(settings, agents)
        missing, also_missing = tee(shard for shard in shards_of(settings, level) if shard.number not in writer.written)
        for shard, (content, count) in zip(missing, executor.map(play_shard, also_missing, files), strict=True):
            writer.add(shard.number, content)
            rows += count
            bar.update(len(shard.matches))
    seconds = time.perf_counter() - start
    log.info("level %d: played %d matches, %d rows (%.2f s)", level, settings.matches, rows, seconds)
    return rows
