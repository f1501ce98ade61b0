"""The temperatures of the strengths below the strongest, by game, and by what a run has found for a game of one's own.

`python benchmarks/strengths.py --find` finds those of the games here.
"""

from pathlib import Path

from selfplay.errors import InvalidFileError
from selfplay.files import read_once
from selfplay.runs.run_folder import RunFolder
from selfplay.tables import COUNT, SHARE, TEXT, Columns, Row, read_rows

Temperatures = tuple[float, float, float, float]
"""Of beginner, easy, medium and hard."""

SEARCH = "search:negascout?table_bits=0&evaluation=pretrained&depth=3"
DEEP_SEARCH = "search:negascout?table_bits=14&evaluation=pretrained"
BOXES = "search:negascout?table_bits=14&evaluation=boxes&depth=5"

LADDERS: dict[tuple[str, str], Temperatures] = {
    ("gomoku", "mcts:pretrained?simulations=100"): (3.2, 2.8, 1.8, 1.05),
    ("gomoku_13x13", "mcts:pretrained?simulations=400"): (2.83, 1.79, 1.22, 0.7),
    ("gomoku_15x15", "mcts:pretrained?simulations=400"): (2.83, 1.79, 1.22, 0.00864),
    ("go_7x7", "mcts:pretrained?simulations=100"): (2.9, 1.8, 1.15, 0.333),
    ("go", "mcts:pretrained?simulations=100"): (3.6, 2.4, 1.2, 0.0259),
    ("go_13x13", "mcts:pretrained?simulations=400"): (2.4, 1.65, 1.1, 0.1),
    ("go_5x5", "mcts:pretrained?simulations=100"): (5.65, 4.39, 2.78, 0.699),
    ("hex", "mcts:pretrained?simulations=100"): (3.6, 3.1, 2.8, 1.6),
    ("hex_5x5", "mcts:rollouts?simulations=1850"): (24.0, 2.5, 1.0, 0.329),
    ("hex_8x8", "mcts:pretrained?simulations=100"): (3.4, 3.01, 2.51, 1.21),
    ("hex_11x11", "mcts:pretrained?simulations=400"): (1.96, 1.67, 1.22, 0.0778),
    ("hex_13x13", "mcts:pretrained?simulations=400"): (2.1, 1.78, 1.4, 0.233),
    ("go_3x3", "mcts:rollouts?simulations=3100"): (72.0, 2.5, 1.0, 0.25),
    ("breakthrough_8x8", f"{DEEP_SEARCH}&depth=4"): (0.132, 0.0866, 0.053, 0.0173),
    ("hex_9x9", "mcts:pretrained?simulations=100"): (2.97, 2.65, 1.49, 0.533),
    ("sumto100", "search:negascout?table_bits=0&evaluation=none&depth=8"): (1000.0, 1.52, 0.709, 0.5),
    ("connect_four", SEARCH): (1.25, 0.8, 0.533, 0.27),
    ("othello", f"{DEEP_SEARCH}&depth=9&probcut=1.0&endgame=14"): (0.05, 0.035, 0.0267, 0.01),
    ("othello_6x6", f"{DEEP_SEARCH}&depth=9&endgame=14"): (0.3, 0.178, 0.105, 0.052),
    ("draughts", f"{DEEP_SEARCH}&depth=10"): (0.0934, 0.0658, 0.0462, 0.0173),
    ("nine_mens_morris", f"{DEEP_SEARCH}&depth=7"): (0.0752, 0.0447, 0.0237, 0.006),
    ("breakthrough", f"{DEEP_SEARCH}&depth=7"): (1.61, 0.774, 0.49, 0.179),
    ("breakthrough_6x6", f"{DEEP_SEARCH}&depth=5"): (0.225, 0.15, 0.1, 0.0289),
    ("dots_and_boxes", BOXES): (10.5, 4.0, 2.0, 0.76),
    ("dots_and_boxes_4x4", BOXES): (4.62, 3.04, 2.0, 1.0),
    ("dots_and_boxes_5x5", BOXES): (2.03, 1.53, 1.01, 0.577),
}
"""By the name of the game and of the player by whose values the actions are drawn. Each strength then scores 70 to 85 %
against the next below, or as docs/playing.md says."""

USUAL: dict[str, Temperatures] = {
    "mcts:pretrained": (3.4, 2.2, 1.4, 0.7),
    "mcts:level:": (3.4, 2.2, 1.4, 0.7),
    "mcts:": (8.0, 2.5, 1.0, 0.25),
    "evaluation=none": (1000.0, 2.0, 1.0, 0.5),
    "evaluation=pretrained": (0.3, 0.15, 0.08, 0.03),
    "": (8.0, 4.0, 2.0, 1.0),
}
"""In other games, by a part of the name of this player, the first that it has: its values have other scales."""


COLUMNS: Columns = {"strength": TEXT, "player": TEXT, "temperature": SHARE, "score": SHARE, "matches": COUNT}
"""Of temperatures.csv in the folder of a level."""
STRENGTHS_BELOW = 4
"""The strengths below the strongest."""
FOUND = "a table of temperatures; delete it and learn again"
MOST_TABLES = 1000
"""The largest number of tables that are kept."""
LEVELS = "mcts:level:"
"""With what the names of searches with a level begin."""


def are_found(game: str, player: str, run: RunFolder | None = None) -> bool:
    """Whether the temperatures of `temperatures_of` were found for this game."""
    return (game, player) in LADDERS or (run is not None and found_levels(run, player) != [])


def temperatures_of(game: str, player: str, run: RunFolder | None = None) -> Temperatures:
    """Those of a game in which the actions are drawn by the values of this player, given by its name.

    Those of a level are the newest that a run has found for a level; so are those of random matches. Raises
    InvalidFileError if a table is broken.
    """
    if (game, player) in LADDERS:
        return LADDERS[game, player]
    if run is not None and (levels := found_levels(run, player)):
        return _found(run.temperatures(levels[-1]))
    return next(temperatures for part, temperatures in USUAL.items() if part in player)


def found_levels(run: RunFolder, player: str) -> list[int]:
    """The levels in whose folders a run has temperatures for the same kind of search, in order."""
    tables = run.levels_with(run.temperatures(0).name)
    return [level for level in tables if _kind(_drawn_by(run.temperatures(level))) == _kind(player)]


def _kind(player: str) -> str:
    return LEVELS if player.startswith(LEVELS) else player.partition("?")[0]


@read_once(MOST_TABLES)
def _drawn_by(path: Path) -> str:
    return str(_rows(path)[0]["player"])


@read_once(MOST_TABLES)
def _found(path: Path) -> Temperatures:
    beginner, easy, medium, hard = (float(str(row["temperature"])) for row in _rows(path))
    return beginner, easy, medium, hard


def _rows(path: Path) -> list[Row]:
    rows = read_rows(path, COLUMNS, FOUND)
    is_whole = all(row.get("player") and float(str(row.get("temperature") or 0)) > 0 for row in rows)
    if len(rows) != STRENGTHS_BELOW or not is_whole:
        raise InvalidFileError(path, f"it is not {FOUND}")
    return rows
