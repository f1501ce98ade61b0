"""The player that learns from its matches into the tables of a run."""

import threading
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.errors import InvalidFileError
from selfplay.files import written_whole
from selfplay.games.position_graph import PositionGraph
from selfplay.games.state import MatchRecord, State
from selfplay.pickling import MadeAgain
from selfplay.players.tabular import TabularPlayer
from selfplay.runs.manifest import Manifest, check_against_manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.tabular.learning import learn_from_match
from selfplay.tabular.table_file import SavedTables, load_tables, save_tables


class LearningTabularPlayer(MadeAgain, TabularPlayer):
    """Plays by the tables in a file, and updates them after each match by the rule that made them.

    Only the tables of the seats that the player held learn. An action below the best value in its table counts as
    exploratory. Each match is saved in the file at once; several processes may learn into one file, one at a time.

    Args:
        tables: those in the file at `path`.

    Raises InvalidFileError if the file does not record its step size.
    """

    def __init__(self, path: Path, graph: PositionGraph, tables: SavedTables) -> None:
        super().__init__(graph, tables.values, tables.rule.ties, tables.rule.name)
        if tables.step_size is None:
            raise InvalidFileError(path, f"does not record its {tables.rule.step_size_name}; use it with learn=false")
        self.path, self.step_size, self.rule, self.played = path, tables.step_size, tables.rule, tables.played
        self._learning = threading.Lock()

    def after_match(self, record: MatchRecord, seats: tuple[int, ...]) -> None:
        """Learn from a match (B = 1) and save the tables.

        Raises RunLockedError if another process is saving tables, StageError if the file cannot be written.
        """
        with self._learning, RunFolder(self.path.parent).lock():
            # Another process may have changed the tables since.
            check_against_manifest(self.path)
            tables = load_tables(self.path, self.graph)
            values = np.ascontiguousarray(tables.values)
            for seat in seats:
                self._update(values, record, seat)
            Manifest(self.path.parent).release(self.rule.name, self.path.name)
            with written_whole(self.path) as beside:
                save_tables(beside, self.graph, values, self.rule, tables.metadata["settings"], tables.played + 1)
            self.values, self.played = values, tables.played + 1

    def matches_seen(self) -> int:
        return self.played

    def status(self) -> str:
        matches = "1 match" if self.played == 1 else f"{self.played:,} matches"
        return f"{self.name} has learned from {matches} against others"

    def _update(self, values: NDArray[np.float64], record: MatchRecord, seat: int) -> None:
        match = State(*map(torch.cat, zip(*record.states, strict=True)))
        positions, movers = self.graph.numbers(match), match.current_player.numpy().astype(np.int64)
        actions = np.array([int(action) for action in record.actions])
        # float64[T, A]: the values, in this player's table, of the boards that could have been reached.
        reached = self.graph.after(positions[:-1], values[seat, seat], values[seat, 1 - seat])
        choices = np.where(self.graph.legal[positions[:-1]], reached, -np.inf)
        chosen = choices[np.arange(len(actions)), actions]
        learn_from_match(
            values,
            self.rule,
            movers * len(self.graph) + positions,
            (movers[:-1] == seat) & (chosen < choices.max(axis=1)),
            player=seat,
            to_first=float(record.states[-1].returns),
            step_size=self.step_size,
        )
