"""Stage 1 of a level: it plays the matches of its dataset, against itself or against the levels before it too."""

import logging
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from selfplay.executors import Executor, open_executor
from selfplay.players.levels import exploring_player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.runs.written_files import sha256
from selfplay.settings.choices import OUTCOMES, TARGET_RULES
from selfplay.settings.fields import recorded_defaults, stage_record
from selfplay.settings.run import Settings

# A stage that has nothing to do should not wait for torch: what computes is imported where it is used.
if TYPE_CHECKING:
    from torch import Tensor

    from selfplay.dataset.rows import Rows
    from selfplay.games import Game
    from selfplay.games.match_record import MatchRecord
    from selfplay.players.player import Player

    Pair = tuple[Player, Player]

log = logging.getLogger(__name__)


class Shard(NamedTuple):
    """A part of a level's matches, to be played in one go: always the same part, whoever plays it."""

    settings: Settings
    level: int
    number: int
    """From 0."""
    matches: range


class PlayedShard(NamedTuple):
    """The rows of a shard as they come into the dataset."""

    content: bytes
    rows: int


def generate_level(
    settings: Settings, level: int, progress: ProgressBar = NoProgress, executor: Executor | None = None
) -> bool:
    """Play the matches of `level` against itself and write its dataset; returns False if it was there already.

    Args:
        executor: who plays them; None: the one of the settings, for this level only.

    Raises:
        SettingError: the executor is not there.
        StageError: the level is not there, its dataset was made with other settings, or cannot be written.
    """
    run = RunFolder(Path(settings.run_dir))
    for number in _levels_that_play(settings, level):
        if number > 0:
            run.check_level(number)
    manifest = Manifest(run.level(level))
    record = _generation_record(settings, run, level)
    if manifest.is_done("generation", record, recorded_defaults(settings, "generation").get, force=settings.force):
        log.info("level %d: matches already generated, skipped", level)
        return False
    manifest.forget("generation")
    with ExitStack() as stack:
        chosen = executor or stack.enter_context(open_executor(settings.executor))
        rows = _write_matches(settings, run, level, record, chosen, progress)
    manifest.record(
        "generation",
        record,
        {"matches": settings.matches, "rows": rows},
        [run.dataset(level, settings.dataset.format).name],
    )
    return True


def _generation_record(settings: Settings, run: RunFolder, level: int) -> dict[str, Any]:
    """What the dataset of a level depends on: settings, and the digests of the files that it is made from."""
    record = stage_record(settings, "generation", level=level) | {"level": level}
    if level > 0:
        record["agent_sha256"] = sha256(run.agent(level))
        if settings.opponents == "pool":
            record["opponents_sha256"] = [sha256(run.agent(earlier)) for earlier in range(1, level)]
    return record


def _write_matches(
    settings: Settings, run: RunFolder, level: int, record: dict[str, Any], executor: Executor, progress: ProgressBar
) -> int:
    from math import prod

    from selfplay.dataset.writer import dataset_written
    from selfplay.games import make_game

    start = time.perf_counter()
    size = prod(make_game(settings.game.name).observation_shape)
    shards = shards_of(settings, level)
    agents = [run.agent(number) for number in _levels_that_play(settings, level) if number > 0]
    with (
        closing(progress(total=settings.matches, desc=f"level {level}: matches")) as bar,
        dataset_written(run.dataset(level, settings.dataset.format), size, record) as writer,
    ):
        rows = sum(writer.written.values())
        missing = [shard for shard in shards if shard.number not in writer.written]
        if found := len(shards) - len(missing):
            log.info("level %d: %d of %d shards of its matches are there", level, found, len(shards))
            bar.update(settings.matches - sum(len(shard.matches) for shard in missing))
        for shard, played in zip(missing, executor.map(play_shard, missing, agents), strict=True):
            writer.add(shard.number, played.content)
            rows += played.rows
            bar.update(len(shard.matches))
    seconds = time.perf_counter() - start
    log.info("level %d: played %d matches, %d rows (%.2f s)", level, settings.matches, rows, seconds)
    return rows


def shards_of(settings: Settings, level: int) -> list[Shard]:
    """The parts that the matches of a level are played in."""
    size, matches = settings.dataset.shard_matches, range(settings.matches)
    parts = (matches[start : start + size] for start in range(0, len(matches), size))
    return [Shard(settings, level, number, part) for number, part in enumerate(parts)]


def _levels_that_play(settings: Settings, level: int) -> list[int]:
    return list(range(level + 1)) if settings.opponents == "pool" else [level]


def play_shard(shard: Shard) -> PlayedShard:
    """Play the matches of a shard and encode their rows."""
    import torch

    from selfplay.dataset.writer import encode_rows
    from selfplay.games import make_game

    settings = shard.settings
    torch.set_num_threads(settings.threads)
    game = make_game(settings.game.name)
    play = _pool_records if settings.opponents == "pool" and shard.level > 0 else _own_records
    parts = (_rows_of_batch(shard, game, batch) for batch in play(shard, game))
    return PlayedShard(*encode_rows(parts, settings.dataset.format, game.observation_codec))


def _rows_of_batch(shard: Shard, game: "Game", batch: "list[tuple[MatchRecord, Pair]]") -> "Rows":
    """The rows of a batch of matches, ordered by match and ply."""
    from selfplay.dataset.rows import concatenate

    parts = [_rows(shard, game, record, players) for record, players in batch]
    return parts[0] if len(parts) == 1 else concatenate(parts).in_order()


def _rows(shard: Shard, game: "Game", record: "MatchRecord", players: "Pair") -> "Rows":
    from selfplay.dataset.match_rows import match_rows
    from selfplay.dataset.targets import PlayedMatches

    settings = shard.settings
    outcome = OUTCOMES[settings.outcome]
    played = PlayedMatches(game, record, players, _key(shard), settings.gamma, outcome)
    return match_rows(played, TARGET_RULES[settings.targets], settings.viewpoints)


def _own_records(shard: Shard, game: "Game") -> "Iterator[list[tuple[MatchRecord, Pair]]]":
    """The matches of a level against itself, a batch at a time."""
    from selfplay.compute.devices import chosen_device
    from selfplay.matches.arena import play_matches

    settings = shard.settings
    size, device = settings.batch_size, chosen_device(settings.device)
    player = exploring_player(settings, game, shard.level)
    pair = player, player
    for record in play_matches(game, pair, shard.matches, _key(shard), batch_size=size, device=device):
        yield [(record, pair)]


def _pool_records(shard: Shard, game: "Game") -> "Iterator[list[tuple[MatchRecord, Pair]]]":
    """The matches of a level against itself and those before it, a batch at a time, one record for each opponent.

    Half of the matches are against itself; each other level, the random player among them, has the same share of the
    rest. The level moves first in the matches with even numbers.
    """
    from functools import cache

    import torch

    from selfplay.compute.devices import chosen_device
    from selfplay.matches.arena import play_batch, playing_device
    from selfplay.players.device_memory import fitting_batch_size

    settings, level, device = shard.settings, shard.level, chosen_device(shard.settings.device)
    player_of = cache(lambda number: exploring_player(settings, game, number))
    itself = player_of(level), player_of(level)
    size = settings.batch_size or fitting_batch_size(game, itself, playing_device(itself, device))
    for numbers in torch.split(torch.arange(shard.matches.start, shard.matches.stop), size):
        opponents = pool_opponents(_key(shard), numbers, level)
        records = []
        for opponent in sorted(set(opponents.tolist())):
            match = numbers[opponents == opponent]
            pair = player_of(level), player_of(opponent)
            record = play_batch(game, pair, match, (match % 2).to(torch.int8), _key(shard), device=device)
            records.append((record, pair))
        yield records


def pool_opponents(key: int, matches: "Tensor", level: int) -> "Tensor":
    """int64[B]: the level that level `level` meets in each of the matches of these numbers (int64[B])."""
    import torch

    from selfplay.compute.random_numbers import Draws, Purpose, below

    words = Draws(key, matches, 0).words(Purpose.OPPONENT)
    drawn: Tensor = below(words, 2 * level)
    return torch.where(drawn < level, drawn, level)


def _key(shard: Shard) -> int:
    from selfplay.compute.random_numbers import Activity, stream_key

    return stream_key(shard.settings.seed, shard.level, Activity.GENERATION)
