"""The finished pairs of a tournament, from which an interrupted one resumes.

RUN_DIR/tournament/pairs.csv       a row per finished pair, written after each of them
RUN_DIR/tournament/manifest.json   the settings, and the hash of pairs.csv when all pairs are finished
"""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from selfplay.errors import InvalidFileError
from selfplay.files import sha256, written_whole
from selfplay.games.win_draw_loss import RESULTS, WinDrawLoss
from selfplay.grading.proof import EXACT_RESULTS
from selfplay.matches.series import PairResult
from selfplay.named_players.make import files_of_player
from selfplay.runs.manifest import Manifest, Stage
from selfplay.settings.matches import TournamentSettings
from selfplay.tables import COUNT, PROBABILITY, TEXT, Columns, data_frame, read_rows

log = logging.getLogger(__name__)

FILE, PLAYERS, SCORES = FILES = "pairs.csv", "players.csv", "scores.png"
EXACT_PAIR_COLUMNS = {f"exact_{result}": PROBABILITY for result in EXACT_RESULTS}
RATED = {result: f"rated_{result}" for result in RESULTS}
PLAYED = (*RESULTS, "opening_plies", "distinct", *RATED.values(), "forfeits", "opponent_forfeits")
PAIR_COLUMNS: Columns = {
    **dict.fromkeys(("player", "opponent"), TEXT),
    **dict.fromkeys(PLAYED, COUNT),
    **EXACT_PAIR_COLUMNS,
}
PAIR_TABLE = "a table of the pairs of this tournament; force=true plays all of them again"

Pair = tuple[int, int]
"""The numbers of two players, the lower one first."""


def pairs_table(
    names: Sequence[str], results: Mapping[Pair, PairResult], exact: Mapping[Pair, WinDrawLoss[float]]
) -> pd.DataFrame:
    """pairs.csv; `exact`: the exact probabilities that are known."""
    rows = [
        {
            "player": names[one],
            "opponent": names[other],
            **played.results._asdict(),
            "opening_plies": played.opening_plies,
            "distinct": played.distinct,
            **dict(zip(RATED.values(), played.evidence, strict=True)),
            "forfeits": played.forfeits,
            "opponent_forfeits": played.opponent_forfeits,
            **dict(zip(EXACT_PAIR_COLUMNS, exact.get((one, other), (None, None, None)), strict=True)),
        }
        for (one, other), played in results.items()
    ]
    return data_frame(PAIR_COLUMNS, rows)


class FinishedPairs:
    """The pairs of a tournament that are finished, in files of this folder.

    `is_whole`: whether all files of the tournament were there already, so that nothing needs to be written.

    Raises StageError if the files there are of a tournament with other settings, or were changed, unless `force`, and
    InvalidFileError if they cannot be read.
    """

    def __init__(self, settings: TournamentSettings, folder: Path, pairs: Sequence[Pair]) -> None:
        self._names, self._pairs, self._path = settings.players, pairs, folder / FILE
        self._manifest, record = Manifest(folder), _record(settings)
        self._stage = Stage("tournament", folder, record, force=settings.force)
        self.results: dict[Pair, PairResult] = {}
        if self._stage.is_done() and not settings.force:
            self.results = self._read(settings.matches) if self._path.exists() else {}
            if self.results:
                log.info("%d of %d pairs were already played, skipped", len(self.results), len(pairs))
        else:
            # In this order a kill leaves no results that seem to belong to another record.
            self._manifest.forget(self._stage.name)
            self._path.unlink(missing_ok=True)
        self.is_whole = self._is_recorded() and all((folder / name).exists() for name in FILES)
        if not self.is_whole:
            # While the file grows, its digest is not recorded.
            self._manifest.record(self._stage.name, record, {}, [])

    def _is_recorded(self) -> bool:
        """Whether all files of the tournament were written, of which the manifest has the digest of the pairs."""
        return not self.missing and FILE in self._manifest.sections.get(self._stage.name, {"files": {}})["files"]

    @property
    def missing(self) -> list[int]:
        """The numbers of the pairs that are not finished."""
        return [number for number, pair in enumerate(self._pairs) if pair not in self.results]

    def add(self, pair: Pair, result: PairResult) -> None:
        """Write the result of a pair. Raises StageError."""
        self.results[pair] = result
        with written_whole(self._path) as beside:
            pairs_table(self._names, self.results, {}).to_csv(beside, index=False)

    def record_whole(self) -> None:
        """Record that the file contains all pairs, and that the other files are written."""
        counts = {"pairs": len(self._pairs)}
        self._manifest.record(self._stage.name, self._stage.record, counts, [self._path.name])

    def _read(self, matches: int) -> dict[Pair, PairResult]:
        results = dict[Pair, PairResult]()
        numbers: dict[Any, int] = {name: number for number, name in enumerate(self._names)}
        for row in read_rows(self._path, PAIR_COLUMNS, PAIR_TABLE):
            pair = numbers.get(row.get("player"), -1), numbers.get(row.get("opponent"), -1)
            result = _result_in(row)
            if pair not in self._pairs or result is None or result.results.matches != matches:
                what, _, remedy = PAIR_TABLE.partition("; ")
                raise InvalidFileError(self._path, f"is not {what}; {remedy}")
            results[pair] = result
        return results


def _result_in(row: Mapping[str, Any]) -> PairResult | None:
    """The result that a row contains; None if a field is missing or negative."""
    if any((row.get(name) or 0) < 0 or row.get(name) is None for name in PLAYED):
        return None
    return PairResult(
        WinDrawLoss(*(row[name] for name in RESULTS)),
        row["distinct"],
        row["forfeits"],
        row["opponent_forfeits"],
        WinDrawLoss(*(row[name] for name in RATED.values())),
        row["opening_plies"],
    )


def _record(settings: TournamentSettings) -> dict[str, Any]:
    """Everything that the results depend on."""
    files = [path for name in settings.players for path in files_of_player(name, settings.run_dir)]
    chosen = {name: getattr(settings, name) for name in ("players", "matches", "epsilons", "opening_plies", "seed")}
    agents = [sha256(path) for path in files]
    return {"game.name": settings.game.name, "agents_sha256": agents, "sgf": settings.sgf} | chosen
