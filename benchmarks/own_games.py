"""How well games that nobody has tuned settings for are learned by one command, and by when it is worth it.

    nice -n 5 python benchmarks/own_games.py --minutes 15
    python benchmarks/own_games.py domineering oware --minutes 3 --learn learner.simulations=16

For each game, from an empty folder: `selfplay learn game=...`, interrupted after these minutes. Then matches from
random openings, both seats, of the newest rated level in tree search, with values as in its rating, against tree search
with random matches, at the same processor time for each move: the number of simulations is measured for each player on
positions of the game. Prints a row of a Markdown table for each series, with the 95 % interval of the score.

Gomoku and Hex are learned without their recipes, and then also with them for the same time, and both levels meet. On a
busy machine --processor counts the minutes of learning in processor time, in one process.

The recipe `general` was tuned on the games of TUNED, and not on those of OTHERS. Runs are kept in --folder, and resumed
there; games with a row in results.csv are not learned again.
"""

import project_environment

import argparse
import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import torch

from selfplay.cli.entry import reporting_errors
from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.errors import SettingError
from selfplay.games import Game, make_game
from selfplay.games.state import State
from selfplay.games.win_draw_loss import wilson_interval
from selfplay.matches.series import Series
from selfplay.named_players.make import make_player
from selfplay.players.player import RandomPlayer
from selfplay.runs.levels import rated_levels
from selfplay.runs.run_folder import RunFolder

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
TUNED = {
    "ataxx": "ataxx:Ataxx",
    "domineering": "domineering:Domineering",
    "konane": "konane:Konane",
    "oware": "oware:Oware",
    "walls": "walls:Walls",
    "y": "y:Y",
}
OTHERS = {
    "animals": "animals:Animals",
    "havannah": "havannah:Havannah",
    "loa": "loa:LinesOfAction",
    "onitama": "onitama:Onitama",
    "gomoku": "gomoku",
    "hex": "hex",
}
GAMES = TUNED | OTHERS
OWN_RECIPES = {"gomoku": "recipe=alphazero_gomoku", "hex": "recipe=alphazero_hex"}
"""The recipes of games that are learned without them."""
OPPONENT = "mcts:rollouts"
SAMPLED, TRIAL = 12, 64
"""Positions on which the time of a simulation is measured, and the simulations of the first trial."""


class Row(NamedTuple):
    """A series of matches against tree search with random matches."""

    game: str
    tuned: bool
    minutes: float
    """Wall time of learning."""
    processor_minutes: float
    level: int
    player: str
    opponent: str
    won: int
    drawn: int
    lost: int
    score: float
    low: float
    high: float


def learned(game: str, folder: Path, options: argparse.Namespace, *usual: str) -> tuple[float, float]:
    """Learn for these minutes in all, resuming an earlier run; returns minutes and processor minutes."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "learned_seconds.txt"
    before = [float(part) for part in kept.read_text().split()] if kept.exists() else [0.0, 0.0]
    if (left := 60 * options.minutes - before[options.processor]) <= 0:
        return before[0] / 60, before[1] / 60
    command = [sys.executable, "-m", "selfplay", "learn", f"game={GAMES[game]}", f"run_dir={folder.resolve()}"]
    command += ["levels=null", *usual, *(["executor=serial"] if options.processor else [])]
    began = time.monotonic()
    with (folder / "learn.txt").open("a") as log:
        process = subprocess.Popen([*command, *options.learn], cwd=EXAMPLES, stdout=log, stderr=log)
        status, usage = _ended(process, left, is_processor_time=options.processor)
    if status not in (0, 130, -signal.SIGINT):
        raise SystemExit(f"{game}: learning has failed; see {folder / 'learn.txt'}")
    spent = [before[0] + time.monotonic() - began, before[1] + usage.ru_utime + usage.ru_stime]
    kept.write_text(f"{spent[0]:.1f} {spent[1]:.1f}\n")
    return spent[0] / 60, spent[1] / 60


def _ended(
    process: "subprocess.Popen[bytes]", seconds: float, *, is_processor_time: bool
) -> tuple[int, "os.struct_rusage"]:
    """The exit status of a process that is interrupted after these seconds, and the resources that it used."""
    began = time.monotonic()
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage
        spent = _processor_seconds(process.pid) if is_processor_time else time.monotonic() - began
        if spent > seconds:
            process.send_signal(signal.SIGINT)
            seconds = float("inf")
        time.sleep(0.1)


def _processor_seconds(pid: int) -> float:
    """The processor time of a process so far, without that of its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def sampled_positions(game: Game, seed: int) -> State:
    """Unfinished positions of random matches, of different plies."""
    record = next(Series(range(64), stream_key(seed, 0, Activity.TOURNAMENT)).records(game, (RandomPlayer(game),) * 2))
    opened = [state.select((~state.terminated).nonzero()[:, 0]) for state in record.states]
    rows = [(ply, row) for ply, state in enumerate(opened) for row in range(state.batch_size)]
    chosen = [rows[number * len(rows) // SAMPLED] for number in range(SAMPLED)]
    parts = [opened[ply].select(torch.tensor([row])) for ply, row in chosen]
    return State(*(torch.cat(fields) for fields in zip(*parts, strict=True)))


def at_equal_time(name: str, game: Game, run_dir: Path, seconds: float, state: State) -> str:
    """The name of a tree search with as many simulations as take these seconds of processor time for each move."""
    simulations, draws = TRIAL, Draws(0, torch.arange(state.batch_size), 0)
    while True:
        text = f"{name}{'&' if '?' in name else '?'}simulations={simulations}"
        player = make_player(text, game, run_dir)
        player.act(state.select(torch.arange(1)), draws._replace(match=torch.arange(1)))  # compiles
        began = time.process_time()
        player.act(state, draws)
        spent = (time.process_time() - began) / state.batch_size
        more = int(simulations * seconds / max(spent, 1e-9))
        if spent > seconds / 3 or more <= simulations:
            return f"{name}{'&' if '?' in name else '?'}simulations={_allowed(name, game, run_dir, more)}"
        simulations = _allowed(name, game, run_dir, min(more, 8 * simulations))
        if text.endswith(f"={simulations}"):
            return text


def _allowed(name: str, game: Game, run_dir: Path, simulations: int) -> int:
    """This number of simulations, or half of it and so on, until the tree fits into memory."""
    while simulations > 1:
        try:
            make_player(f"{name}{'&' if '?' in name else '?'}simulations={simulations}", game, run_dir)
        except SettingError:
            simulations //= 2
        else:
            break
    return max(1, simulations)


def measured(game_name: str, folder: Path, options: argparse.Namespace) -> list[Row]:
    """Learn a game, and play the series."""
    recipe = OWN_RECIPES.get(game_name)
    minutes, processor = learned(game_name, folder, options, *([] if recipe is None else ["recipe=general"]))
    game, rows, rated = make_game(GAMES[game_name]), list[Row](), rated_levels(RunFolder(folder))
    if not rated:
        raise SystemExit(f"{game_name}: no rated level in {options.minutes} minutes; see {folder / 'learn.txt'}")
    opponents = {OPPONENT: folder}
    if recipe is not None:
        of_recipe = folder.with_name(f"{game_name}_by_recipe")
        learned(game_name, of_recipe, options, recipe)
        opponents[rated_levels(RunFolder(of_recipe))[-1].search()] = of_recipe
    state = sampled_positions(game, options.seed)
    player = at_equal_time(rated[-1].search(), game, folder, options.seconds, state)
    for name, run_dir in opponents.items():
        opponent = at_equal_time(name, game, run_dir, options.seconds, state)
        key = stream_key(options.seed, 0, Activity.TOURNAMENT)
        series = Series(range(options.matches), key, opening_plies=options.opening_plies)
        pair = make_player(player, game, folder), make_player(opponent, game, run_dir)
        results = series.play(game, pair).results
        opponent = opponent if run_dir == folder else f"{recipe} {opponent}"
        scores = [round(number, 3) for number in (results.score, *wilson_interval(results.points, results.matches))]
        learning = game_name, game_name in TUNED, round(minutes, 1), round(processor, 1), rated[-1].level
        rows.append(Row(*learning, player, opponent, *results, *scores))
        print(f"| {' | '.join(map(str, rows[-1]))} |", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", choices=[*GAMES, []], metavar="GAME", help=f"default: all of {[*GAMES]}")
    parser.add_argument("--minutes", type=float, default=15, help="of learning each game, wall time")
    parser.add_argument("--seconds", type=float, default=0.05, help="of processor time for each move")
    parser.add_argument("--matches", type=int, default=100, help="of each series")
    parser.add_argument("--opening-plies", type=int, default=4, help="random plies at the start")
    parser.add_argument("--processor", action="store_true", help="the minutes are processor time; one process learns")
    parser.add_argument("--learn", nargs="+", default=[], metavar="SETTING=VALUE", help="further settings of the runs")
    parser.add_argument("--seed", type=int, default=0, help="of the matches, not of the runs")
    parser.add_argument("--folder", type=Path, default=Path("outputs/own_games"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    # A shell starts background commands with this signal ignored, and the runs would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.path.insert(0, str(EXAMPLES))
    options.folder = options.folder.resolve()
    options.folder.mkdir(parents=True, exist_ok=True)
    path = options.folder / "results.csv"
    done = {row["game"] for row in csv.DictReader(path.open())} if path.exists() else set()
    print(f"| {' | '.join(Row._fields)} |\n|{'---|' * len(Row._fields)}", flush=True)
    for game in options.games or GAMES:
        if game in done:
            continue
        rows = measured(game, options.folder / game, options)
        is_new = not path.exists()
        with path.open("a", newline="") as file:
            writer = csv.writer(file)
            writer.writerows([*([Row._fields] if is_new else []), *rows])


if __name__ == "__main__":
    with reporting_errors():
        main()
