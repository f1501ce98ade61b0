"""`tabular:RULE` or `tabular:PATH`, the tables of a tabular learner, and `experience[:PATH]`, an experience graph."""

from pathlib import Path
from typing import Any

from selfplay.errors import InvalidFileError, SelfPlayError, SettingError, shortened
from selfplay.experience.rule import ExperienceRule
from selfplay.files import user_path
from selfplay.games import Game, name_of_game
from selfplay.games.position_graph import positions_of
from selfplay.named_players.learning_tabular import LearningTabularPlayer
from selfplay.named_players.names import EPSILON, PlayerName, options_of, player_kind
from selfplay.players.experience import load_experience_player
from selfplay.players.exploring import EpsilonGreedyPlayer
from selfplay.players.player import Player
from selfplay.players.tabular import TabularPlayer
from selfplay.runs.command_lines import command_for
from selfplay.runs.manifest import check_against_manifest
from selfplay.tabular.learning import UPDATE_RULES
from selfplay.tabular.table_file import load_tables


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
