"""Learn a game with variants of its recipe, and compare their last levels: is a change of the settings worth it?

    python benchmarks/variants.py recipe=othello levels=8 --variants "learner.step_size=0.03" "learner.step_size=0.06"
    python benchmarks/variants.py recipe=othello --variants "architecture.phases=4" "" --depths 1 4 --matches 200

All variants have the settings in front of --variants; each adds those between its quotation marks. Runs are kept in
--folder and resumed there. Prints a Markdown table with a row for each variant: its score against the first variant
with both looking equally many plies ahead, against each reference player one ply ahead, and in endgame positions the
share of best actions and the points given away per move. Every opening is played from both seats; a draw is half a
point.
"""

import project_environment

import argparse
from pathlib import Path

import torch

from selfplay import Settings, compose_settings, learn_levels, load_level, make_game
from selfplay.cli.entry import reporting_errors
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.games import Game
from selfplay.grading.solved_positions import SolvedPositions, endgame_positions
from selfplay.matches.series import Series
from selfplay.named_players.make import make_player
from selfplay.players.player import Player
from selfplay.progress import progress_bar
from selfplay.runs.kept_positions import kept_in
from selfplay.stages.measure_levels import fitting_evaluation, reference_names


def score(game: Game, one: Player, other: Player, options: argparse.Namespace) -> float:
    """The score of `one` in matches against `other`."""
    key = stream_key(options.seed, 0, Activity.TOURNAMENT)
    series = Series(range(options.matches), key, opening_plies=options.opening_plies)
    return series.play(game, (one, other)).results.score


def learned(overrides: list[str], number: int, folder: Path) -> Settings:
    """The settings of a variant, whose run is learned first if it does not exist."""
    settings = compose_settings([*overrides, f"run_dir={folder / f'variant_{number}'}"])
    learn_levels(settings, progress_bar)
    return settings


def cells_of(
    settings: Settings, base: Settings, endgames: SolvedPositions | None, options: argparse.Namespace
) -> list[str]:
    """The figures of a variant, in the order of the columns of the table."""
    game = make_game(settings.game.name)
    cells = []
    for depth in options.depths:
        one, other = (load_level(run.run_dir, run.levels, game, depth=depth) for run in (settings, base))
        cells.append("" if settings is base else f"{score(game, one, other, options):.3f}")
    player = load_level(settings.run_dir, settings.levels, game)
    references = (make_player(name, game, settings.run_dir) for name in options.references)
    cells += [f"{score(game, player, reference, options):.3f}" for reference in references]
    if endgames is not None:
        quality, has_points = endgames.grade(player).overall, game.rules.margin is not None
        cells.append(f"{quality.perfect:.3f}" + (f" / {quality.points_lost:.2f}" if has_points else ""))
    return cells


def table_row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("overrides", nargs="*", metavar="setting=value", help="settings of all variants")
    parser.add_argument("--variants", nargs="+", required=True, metavar="SETTINGS", help="the settings of each variant")
    parser.add_argument("--depths", nargs="+", type=int, default=[1, 4], help="plies ahead against the first variant")
    parser.add_argument("--references", nargs="*", metavar="PLAYER", help="default: those of the game")
    parser.add_argument("--matches", type=int, default=1000, help="of each pair")
    parser.add_argument("--opening-plies", type=int, default=8, help="random plies at the start")
    parser.add_argument("--endgames", type=int, default=300, help="endgame positions; 0: none")
    parser.add_argument("--seed", type=int, default=0, help="of the matches, not of the runs")
    parser.add_argument("--folder", type=Path, default=Path("outputs/variants"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    runs = [
        learned([*options.overrides, *variant.split()], number, options.folder)
        for number, variant in enumerate(options.variants)
    ]
    game = make_game(runs[0].game.name)
    options.references = reference_names(game, options.references)
    endgames = endgame_positions(
        game, options.endgames, options.seed, fitting_evaluation(game), kept_in(options.folder, game), progress_bar
    )
    depths = [f"{depth} ply" if depth == 1 else f"{depth} plies" for depth in options.depths]
    columns = ["variant", *depths, *options.references, *(["endgames"] if endgames is not None else [])]
    print(table_row(columns), "|---|" + "---:|" * (len(columns) - 1), sep="\n", flush=True)
    for variant, run in zip(options.variants, runs, strict=True):
        print(table_row([f"`{variant}`", *cells_of(run, runs[0], endgames, options)]), flush=True)


if __name__ == "__main__":
    with reporting_errors():
        main()
