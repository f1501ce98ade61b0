"""Analyses by GTP: what a player expects of the moves of a position, written again and again until the next command.

The commands lz-analyze and kata-analyze of Leela Zero and KataGo, which boards such as Sabaki and Lizzie read.
"""

import logging
from collections.abc import Callable, Sequence
from math import inf, isfinite
from threading import Event, Thread
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from selfplay.compute.random_numbers import Draws
from selfplay.errors import SelfPlayError
from selfplay.games.match import Match
from selfplay.players.capabilities import GrowsTrees, capability, chosen_action
from selfplay.players.player import ActionValues, Player
from selfplay.protocols.commands import whole_numbers
from selfplay.protocols.gtp.notation import COLOURS, Vertices
from selfplay.search.deadline import Deadline, StoppedError
from selfplay.search.mcts.tree import NOT_ADDED, Trees, tree_bytes
from selfplay.search.mcts.tree_search import MOST_SIMULATIONS, TreeSearch
from selfplay.search.mcts.watching import watched

log = logging.getLogger(__name__)

LARGEST_TREE = 1 << 30
"""Bytes of the tree of an analysis, which does not grow further."""
USUAL_INTERVAL = 100
"""Hundredths of a second between two reports if the controller names no interval."""
LONGEST_LINE = 20
"""The most moves of a principal variation."""
FIRST_REPORT, MOST_SECONDS = 0.01, 60.0
"""Seconds between two looks for the first report, and how long the next command waits for it."""


class Move(NamedTuple):
    """What an analysis says of a move."""

    action: int
    visits: int
    winrate: float
    """From 0 to 1, to the player who moves."""
    prior: float
    line: list[int]
    """The move and what is expected to follow."""


def info_of_leela(moves: Sequence[Move], vertices: Vertices) -> str:
    """The report of lz-analyze: shares in ten-thousandths."""
    return " ".join(
        f"info move {vertices.text(move.action)} visits {move.visits} winrate {round(1e4 * move.winrate)} "
        f"prior {round(1e4 * move.prior)} lcb {round(1e4 * move.winrate)} order {order} pv {_line(move, vertices)}"
        for order, move in enumerate(moves)
    )


def info_of_katago(moves: Sequence[Move], vertices: Vertices) -> str:
    """The report of kata-analyze: shares from 0 to 1, utility from -1 to 1."""
    return " ".join(
        f"info move {vertices.text(move.action)} visits {move.visits} utility {2 * move.winrate - 1:.6f} "
        f"winrate {move.winrate:.6f} prior {move.prior:.6f} lcb {move.winrate:.6f} order {order} "
        f"pv {_line(move, vertices)}"
        for order, move in enumerate(moves)
    )


FORMS = {"lz-analyze": info_of_leela, "kata-analyze": info_of_katago}
"""How the commands write a report."""


def _line(move: Move, vertices: Vertices) -> str:
    return " ".join(map(vertices.text, move.line))


class Request(NamedTuple):
    """The arguments of an analysis: `B 50`, `50`, `B interval 50`; others are ignored."""

    colour: str | None
    seconds: float
    """Between two reports."""


def read_request(arguments: Sequence[str]) -> Request:
    """The arguments of a command. Raises CommandError."""
    words = [word.lower() for word in arguments]
    colour = words.pop(0) if words and words[0] in COLOURS else None
    if "interval" in words:
        words = words[words.index("interval") + 1 :]
    interval = words[0] if words and words[0][:1].isdigit() else str(USUAL_INTERVAL)
    return Request(colour, max(1, *whole_numbers(interval)) / 100)


class RunningAnalysis:
    """An analysis of the position of a match by a player, in threads of its own, until it is ended."""

    def __init__(
        self, player: Player, match: Match, draws: Draws, seconds: float, form: Callable[[Sequence[Move]], str]
    ) -> None:
        self.player, self.match, self.draws = player, match, draws
        self._seconds, self._form = seconds, form
        self._deadline, self._ended, self._trees = Deadline(), Event(), list[Trees]()
        growing = capability(player, GrowsTrees)
        self._search = None if growing is None else _longer(growing.tree_search())
        self._found = list[Move]()

    def start(self, write: Callable[[str], None]) -> None:
        """Write a report at each interval from now on."""
        self._write, work = write, Thread(target=self._work, daemon=True)
        self._threads = [work, Thread(target=self._report, args=(work,), daemon=True)]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """End it, and its answer, after at least one report."""
        self._ended.set()
        for thread in reversed(self._threads):
            thread.join()
        self._write("\n")

    def _work(self) -> None:
        with self._deadline.applied(), watched(self._trees.append):
            try:
                if self._search is not None:
                    self._search.search(self.match.state, self.draws)
                else:
                    found = self.player.value_actions(self.match.state, self.draws)
                    moves = moves_by_values(found)
                    self._found = moves or [move_played(chosen_action(self.player, self.match, self.draws))]
            except StoppedError:
                return
            except SelfPlayError as error:
                log.warning("%s", error)

    def _report(self, work: Thread) -> None:
        end = inf
        while not self._moves() and work.is_alive() and monotonic() < end:
            work.join(FIRST_REPORT)
            end = min(end, monotonic() + MOST_SECONDS) if self._ended.is_set() else inf
        is_first = True
        while is_first or not self._ended.wait(self._seconds):
            is_first = False
            if moves := self._moves():
                self._write(f"{self._form(moves)}\n")
        self._deadline.cancel()

    def _moves(self) -> list[Move]:
        """What is known so far, the best first."""
        found = moves_of_tree(self._trees[0]) if self._trees and self._search is not None else self._found
        return sorted(found, key=lambda move: (-move.visits, -move.winrate))


def _longer(search: TreeSearch) -> TreeSearch:
    """The same search, as long as its tree fits into memory."""
    game = search.game
    nodes = LARGEST_TREE // tree_bytes(1, game.num_distinct_actions, game.rules.position.num_words)
    most, proves = min(MOST_SIMULATIONS, nodes), search.proves
    return TreeSearch(game, search.evaluator, search.rule, most, proves=proves, parallel=search.parallel)


def moves_of_tree(trees: Trees) -> list[Move]:
    """The visited moves of the first tree, which may still grow."""
    if not trees.sizes[0]:
        return []
    return [
        Move(
            int(edge["action"]),
            int(edge["visits"]),
            _share(edge["value"]),
            float(edge["prior"]),
            _variation(trees, edge),
        )
        for edge in _edges(trees, 0)
        if edge["visits"]
    ]


def _edges(trees: Trees, number: int) -> Any:
    """The edges of a node of the first tree."""
    return trees.edges[0, number, : trees.nodes[0, number]["num_edges"]]


def _variation(trees: Trees, edge: Any) -> list[int]:
    """The actions from an edge of the root along the edges with the most visits."""
    line = [int(edge["action"])]
    while (child := int(edge["child"])) != NOT_ADDED and len(line) < LONGEST_LINE:
        edges = _edges(trees, child)
        edge = edges[int(np.argmax(edges["visits"]))] if len(edges) else None
        if edge is None or not edge["visits"]:
            break
        line.append(int(edge["action"]))
    return line


def _share(value: float, neutral: float = 0.0) -> float:
    """A value as a share of matches won: from -1 to 1, or around the value of an even match from 0 on."""
    return float(np.clip((value + 1) / 2 if neutral == 0 else value, 0.0, 1.0))


def moves_by_values(found: ActionValues | None) -> list[Move]:
    """The legal moves by the values that a player gives them; none if it gives none."""
    values = [] if found is None else found.values[0].tolist()
    shares = {action: _share(value, found.neutral) for action, value in enumerate(values) if found and isfinite(value)}
    best_first = sorted(shares, key=lambda action: -shares[action])
    return [Move(action, 1, shares[action], 1 / len(shares), [action]) for action in best_first]


def move_played(action: int) -> Move:
    """What is said of a move whose player values nothing."""
    return Move(action, 1, 0.5, 1.0, [action])
