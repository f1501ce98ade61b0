"""`tabular:RULE` or `tabular:PATH`, the tables of a tabular learner, and `experience[:PATH]`, an experience graph."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.errors import InvalidFileError, SelfPlayError, SettingError, shortened
from selfplay.experience.rule import ExperienceRule
from selfplay.files import user_path, written_whole
from selfplay.games import Game, name_of_game
from selfplay.games.position_graph import PositionGraph, positions_of
from selfplay.games.state import MatchRecord, State
from selfplay.named_players.names import EPSILON, PlayerName, options_of, player_kind
from selfplay.pickling import MadeAgain
from selfplay.players.experience import load_experience_player
from selfplay.players.exploring import EpsilonGreedyPlayer
from selfplay.players.player import Player
from selfplay.players.tabular import TabularPlayer
from selfplay.runs.command_lines import command_for
from selfplay.runs.manifest import Manifest, check_against_manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.tabular.learning import UPDATE_RULES, learn_from_match
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


@player_kind("tabular:NAME", files=lambda name, run_dir: [_path(name.argument, run_dir)])
def tabular(game: Game, name: PlayerName, *, learn: bool | None = None, run_dir: Path) -> Player:
    """the tables backward_value or temporal_difference of the run, or those of a file NAME.npz; against a person,
    backward_value explores and learns as in training, unless epsilon or learn is set

    Args:
        learn: whether it learns from its matches and the file is written again; null: only backward_value against a
            person
    """
    path, graph = _path(name.argument, run_dir), positions_of(game)
    if not path.exists():
        raise _missing(name, path, game, run_dir)
    check_against_manifest(path)
    tables = load_tables(path, graph)
    trains = name.against_person and tables.trains_against_people
    player = TabularPlayer(graph, tables.values, tables.rule.ties, tables.rule.name)
    if trains if learn is None else learn:
        player = LearningTabularPlayer(path, graph, tables)
    if trains and tables.epsilon is not None and EPSILON.name not in name.given:
        return EpsilonGreedyPlayer(game, player, [tables.epsilon])
    return player


def _is_path(argument: str) -> bool:
    """Whether the text after the colon is a path, and not the name of one of the run's tables."""
    return Path(argument).suffix == ".npz" or len(Path(argument).parts) > 1


def _path(argument: str, run_dir: Path) -> Path:
    return user_path(argument) if _is_path(argument) else run_dir / "tabular" / f"{argument}.npz"


def _missing(name: PlayerName, path: Path, game: Game, run_dir: Path) -> SelfPlayError:
    """The error for a file that does not exist, with the tables that do and how to learn more."""
    if _is_path(name.argument):
        return InvalidFileError(path, f"does not exist; {_tables(run_dir)}")

    def learned_by(rule: str) -> str:
        return command_for("train-tabular", name_of_game(game), run_dir, f"agent={rule}")

    if name.argument in UPDATE_RULES:
        return InvalidFileError(path, f"does not exist; {_tables(run_dir)}; learn it with {learned_by(path.stem)}")
    known = f"{_tables(run_dir)}; learn others with {' or '.join(map(learned_by, UPDATE_RULES))}"
    return SettingError(f"player {shortened(name.text)!r}: unknown table; {known}")


def _tables(run_dir: Path) -> str:
    folder = run_dir / "tabular"
    names = [f"tabular:{path.stem}" for path in sorted(folder.glob("*.npz"))]
    return f"there are {', '.join(names)}" if names else f"there are no tables in {folder} yet"


# ---------------------------------------------------------------------- the experience graph


def _store_path(name: PlayerName, run_dir: Path) -> Path:
    return user_path(name.argument) if name.argument else run_dir / "experience.sqlite"


@player_kind(
    "experience[:PATH]",
    files=lambda name, run_dir: [_store_path(name, run_dir)],
    more=options_of(ExperienceRule),
)
def experience(game: Game, name: PlayerName, *, learn: bool = True, run_dir: Path, **rule: Any) -> Player:
    """the experience graph stored in this file or in run_dir/experience.sqlite; it learns from its matches, by a rule
    (backup, discount, canonical) that is fixed when the file is created

    Args:
        learn: whether it learns from its matches
    """
    given = ExperienceRule(**rule) if rule.keys() & name.given.keys() else None
    return load_experience_player(_store_path(name, run_dir), game, given, learns=learn)
