"""Count the files that a reader opens on the way from a command to its effect.

    python benchmarks/journeys.py                       # a table of all journeys
    python benchmarks/journeys.py training --files      # and the files, in the order in which they are entered

A file counts if one of its functions is executed or active, compiled or not; what runs during an import does not
count. Calls are the largest number of the project's functions that are active where a function is entered for the first
time, without compiled ones, comprehensions and lambdas.

The journeys `console` and `click` begin with the person's action, in a match that is open: the agent was loaded when
the match began, so its file, checkpoint and architecture are read on other journeys. What the person sees is part of
them: the console draws boards and values, the page gets two descriptions of the match.
"""

import project_environment

import argparse
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any
from unittest.mock import patch

import torch
from fastapi.testclient import TestClient

from selfplay import compose_settings, generate_level, learn_levels, make_game, make_player
from selfplay.cli.main import run
from selfplay.compute.random_numbers import Draws
from selfplay.playing.console import play_at_console
from selfplay.search.exact_solver import make_exact_solver
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.folders import PROJECT_FOLDER
from selfplay.settings.playing import PlaySettings, WebSettings
from selfplay.web.app import create_app
from selfplay.web.matches import MatchService

OWN = tuple(str(PROJECT_FOLDER / name) for name in ("selfplay", "architectures"))
TINY = ["matches=50", "training.epochs=1", "architecture.hidden_sizes=[8]", "levels=1"]


IMPORTING = "<frozen importlib._bootstrap>"


def _is_own_function(code: CodeType) -> bool:
    """Whether this is a function of the project, and not the body of a module or class."""
    return code.co_filename.startswith(OWN) and bool(code.co_flags & CO_OPTIMIZED)


class ArrivedError(Exception):
    """The effect has been reached."""


def arrive(*_: object, **__: object) -> None:
    raise ArrivedError


class Journey:
    """Records the project's functions that run while it is active.

    Args:
        counts: whether a function counts.
    """

    def __init__(self, counts: Callable[[CodeType], bool] = lambda _: True) -> None:
        self._counts = counts
        self.start()

    def start(self) -> None:
        """Begin the journey here: forget what has run so far."""
        self.files: dict[str, None] = {}
        self.depth = 0
        self._seen: set[CodeType] = set()

    def __enter__(self) -> "Journey":
        threading.setprofile(self._see)
        sys.setprofile(self._see)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]

    def _see(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or code in self._seen or not _is_own_function(code):
            return
        active, outer = [], frame
        while outer is not None:
            if outer.f_code.co_filename == IMPORTING:
                return
            if _is_own_function(outer.f_code):
                active.append(outer.f_code)
            outer = outer.f_back
        self.depth = max(self.depth, sum(not one.co_name.startswith("<") for one in active))
        for one in reversed(active):
            self._count(one)
        self._enter(code, frame.f_globals, [value for value in frame.f_locals.values() if hasattr(value, "py_func")])

    def _enter(self, code: CodeType, names: dict[str, Any], others: list[Any]) -> None:
        """Count the file of a function, and those of the compiled code that it calls."""
        self._seen.add(code)
        self._count(code)
        for value in [*(names.get(name) for name in code.co_names), *others]:
            if hasattr(value, "py_func"):
                self._enter_compiled(value.py_func)

    def _count(self, code: CodeType) -> None:
        if self._counts(code):
            self.files.setdefault(str(Path(code.co_filename).relative_to(PROJECT_FOLDER)))

    def _enter_compiled(self, function: FunctionType) -> None:
        code = function.__code__
        if code in self._seen or not code.co_filename.startswith(OWN):
            return
        enclosed = [cell.cell_contents for cell in function.__closure__ or ()]
        self._enter(code, function.__globals__, [])
        for value in [*(function.__globals__.get(name) for name in code.co_names), *enclosed]:
            if isinstance(value := getattr(value, "py_func", value), FunctionType):
                self._enter_compiled(value)


def training(run_dir: str) -> Journey:
    """`train/train_agent.py` to the first `backward()`"""
    generate_level(compose_settings([*TINY, f"run_dir={run_dir}"]), 0)
    sys.argv = ["train/train_agent.py", "--level", "1", f"run_dir={run_dir}", *TINY]
    with patch.object(torch.Tensor, "backward", arrive), suppress(ArrivedError), Journey() as journey:
        run("train")
    return journey


def console(run_dir: str) -> Journey:
    """a person's action in the console to the agent's answer"""
    learn_levels(compose_settings([*TINY, f"run_dir={run_dir}"]))
    settings = compose_settings_of(PlaySettings, "play", [f"run_dir={run_dir}", "second=level:1"])
    answers = iter(["5", "quit"])
    with Journey() as journey:

        def read(_: str) -> str:
            if (answer := next(answers)) == "5":
                journey.start()
            return answer

        play_at_console(settings, read, lambda _: None)
    return journey


def click(run_dir: str) -> Journey:
    """a click on the page to the agent's answer"""
    learn_levels(compose_settings([*TINY, f"run_dir={run_dir}"]))
    app = create_app(MatchService(compose_settings_of(WebSettings, "web", [f"run_dir={run_dir}"])))
    # The threads that answer begin within the journey, because a thread is followed only from its beginning.
    with Journey() as journey, TestClient(app, "http://127.0.0.1") as client:
        begun = {"game": "tictactoe", "opponent": "level-1", "person": "first"}
        match = client.post("/api/matches", json=begun).json()
        journey.start()
        client.post(f"/api/matches/{match['id']}/actions", json={"action": 4, "ply": 0}).raise_for_status()
        client.post(f"/api/matches/{match['id']}/reply").raise_for_status()
    return journey


def naming(_: str) -> Journey:
    """`search:negascout?depth=4` to a player"""
    game = make_game("othello")
    with Journey() as journey:
        make_player("search:negascout?depth=4", game, "")
    return journey


def gamma(run_dir: str) -> Journey:
    """the setting `gamma` to the targets that it discounts: functions that name it"""
    generate_level(compose_settings([*TINY, f"run_dir={run_dir}/compiled"]), 0)
    settings = compose_settings([*TINY, f"run_dir={run_dir}"])
    with Journey(lambda code: "gamma" in (*code.co_names, *code.co_varnames)) as journey:
        generate_level(settings, 0)
    return journey


def simulation(_: str) -> Journey:
    """a simulation of tree search with rollouts"""
    return _action("mcts:rollouts?simulations=4")


def negascout(_: str) -> Journey:
    """an action by NegaScout"""
    return _action("search:negascout?depth=2&evaluation=discs")


def endgame(_: str) -> Journey:
    """the exact value of an Othello endgame"""
    game = make_game("othello_4x4")
    solver = make_exact_solver(game)
    solver.action_values(game.init())  # compiles
    with Journey() as journey:
        solver.action_values(game.init())
    return journey


def _action(name: str) -> Journey:
    game = make_game("othello_4x4")
    player, state = make_player(name, game, ""), game.init()
    player.act(state, Draws(0, torch.tensor([0]), 0))  # compiles
    with Journey() as journey:
        player.act(state, Draws(0, torch.tensor([0]), 0))
    return journey


JOURNEYS: dict[str, Callable[[str], Journey]] = {
    journey.__name__: journey for journey in (training, console, click, naming, gamma, simulation, negascout, endgame)
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("journeys", nargs="*", help=f"{', '.join(JOURNEYS)}; default: all")
    parser.add_argument("--files", action="store_true", help="name the files")
    options = parser.parse_args()
    print("| journey | files | calls |\n|---|---:|---:|")
    for name in options.journeys or JOURNEYS:
        with tempfile.TemporaryDirectory() as folder:
            journey = JOURNEYS[name](folder)
        print(f"| {JOURNEYS[name].__doc__} | {len(journey.files)} | {journey.depth} |")
        if options.files:
            print("\n".join(f"    {file}" for file in journey.files))


if __name__ == "__main__":
    main()
