"""Proofs that a player wins against every play: compared with a walk in plain Python, position by position."""

import csv
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from selfplay.compute.positions import packed_array
from selfplay.compute.random_numbers import Draws, Purpose
from selfplay.games import Game, State, make_game
from selfplay.games.connect_four import Position, has_line, is_terminal, legal_actions, play
from selfplay.grading.winning_proof.action_judge import judge
from selfplay.grading.winning_proof.walk import Walk
from selfplay.named_players.make import make_player
from selfplay.players.player import Player, one_hot_policy, pick_actions, policy_of
from selfplay.search.exact_solver import make_exact_solver
from selfplay.settings.common import GameSettings
from selfplay.settings.matches import ProofSettings
from selfplay.stages.prove import prove_and_report

FIXED = f"{__name__}:Fixed"
STARTS = {
    ("first", "win"): "45534254742753676237723372216",
    ("first", "draw"): "23473477712443464715621726336",
    ("first", "loss"): "1736555164531636656277772237",
    ("second", "win"): "552354651517435227466447227",
    ("second", "draw"): "23473477712443464715621726336",
    ("second", "loss"): "67436335223612624322656753711",
}
"""Late positions of Connect Four by the seat of the player and the result to it; `Fixed` makes mistakes in all."""
GAME = make_game("connect_four")


class Fixed(Player):
    """Takes an action that a hash of the position and the seat determines; not symmetric, and often mistaken."""

    name = "fixed"

    def __init__(self, game: Game) -> None:
        self.game = game

    def act(self, state: State, draws: Draws) -> torch.Tensor:
        words = (
            Draws(7, self.game.field(state, "own") * 31 + self.game.field(state, "opp"), 0).bits(Purpose.RANDOM_ACTION)
            + state.current_player
        )
        return pick_actions(self.game.legal_action_mask(state), words)

    def policy(self, state: State) -> torch.Tensor:
        return one_hot_policy(
            self.act(state, Draws(0, self.game.field(state, "own"), 0)), self.game.legal_action_mask(state)
        )


class PlainWalk:
    """The same walk by recursion, with the definition of a mistake: an action that lowers the worth of the position."""

    def __init__(
        self, game: Game, player: Player, seat: int, start: State, value: Callable[[Any], int], replies: str = "all"
    ) -> None:
        self.game, self.player, self.seat, self.value, self.replies = game, player, seat, value, replies
        is_turn = int(start.current_player[0]) == seat
        self.lowest = -1 if self.value_of(start) * (1 if is_turn else -1) >= 0 else -1000
        self.seen: set[tuple[int, Any]] = set()
        self.counts: Counter[tuple[int, str]] = Counter()
        self.shortest: tuple[int, ...] | None = None
        self.visit(start, ())

    def value_of(self, state: State) -> int:
        return self.value(*self.game.positions(state))

    def worth(self, value: int) -> int:
        return min(max(value, self.lowest), 1)

    def visit(self, state: State, line: tuple[int, ...]) -> None:
        position = (len(line), *self.game.positions(state))
        if position in self.seen:
            return
        self.seen.add(position)
        self.counts[len(line), "positions"] += 1
        if bool(state.terminated[0]):
            result = float(state.returns[0]) * (1 if self.seat == 0 else -1)
            self.counts[len(line), {1.0: "won", 0.0: "drawn", -1.0: "lost"}[result]] += 1
            return
        is_turn = int(state.current_player[0]) == self.seat
        allowed = policy_of(self.player, state)[0] > 0 if is_turn else self.game.legal_action_mask(state)[0]
        for action in allowed.nonzero()[:, 0].tolist():
            after = self.game.step(state, torch.tensor([action]))
            if is_turn:
                self.judge(self.worth(self.value_of(state)), self.worth(-self.value_of(after)), (*line, action))
            if is_turn or self.replies == "all" or self.value_of(after) == -self.value_of(state):
                self.visit(after, (*line, action))

    def judge(self, before: int, after: int, line: tuple[int, ...]) -> None:
        if after >= before:
            return
        kind = "wins_given_away" if before > 0 else "draws_given_away" if before == 0 else "losses_hastened"
        self.counts[len(line) - 1, kind] += 1
        if self.shortest is None or len(line) < len(self.shortest):
            self.shortest = line


@cache
def plain_score(p: Position) -> int:
    """The score of a Connect Four position by the rules alone."""
    if is_terminal(p):
        return -(22 - ((p.own | p.opp).bit_count() + 1) // 2) if has_line(p.opp) else 0
    return max(-plain_score(play(p, column)) for column in range(7) if legal_actions(p) >> column & 1)


def proof_settings(folder: Path, **values: Any) -> ProofSettings:
    game = GameSettings(values.pop("game", "connect_four"))
    return ProofSettings(run_dir=str(folder), game=game, folder=str(folder / "proof"), table_bits=10, **values)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def start_of(game: Game, after: str) -> State:
    state = game.init()
    for action in game.read_transcript(after):
        state = game.step(state, torch.tensor([action]))
    return state


COUNTED = ("positions", "won", "drawn", "lost", "wins_given_away", "draws_given_away", "losses_hastened")


def assert_same_walk(folder: Path, plain: PlainWalk, first_ply: int) -> None:
    plies = rows_of(folder / "proof" / "plies.csv")
    assert len(plies) == 1 + max(ply for ply, _ in plain.seen)
    for number, row in enumerate(plies):
        assert int(row["ply"]) == first_ply + number
        assert {name: int(row[name]) for name in COUNTED} == {name: plain.counts[number, name] for name in COUNTED}


@cache
def plain_walk(name: str, seat: str, after: str, replies: str = "all") -> PlainWalk:
    player = make_player(name, GAME, "")
    return PlainWalk(GAME, player, ("first", "second").index(seat), start_of(GAME, after), plain_score, replies)


WALKED = [
    ("first", "win"),
    *(pytest.param("second", result, marks=pytest.mark.slow) for result in ("draw", "loss")),
]


@pytest.mark.parametrize("replies", ["all", "best"])
@pytest.mark.parametrize(("seat", "result"), WALKED)
def test_a_whole_walk_equals_one_in_plain_python(tmp_path: Path, seat: str, result: str, replies: str) -> None:
    after = STARTS[seat, result]
    plain = plain_walk(FIXED, seat, after, replies)
    prove_and_report(proof_settings(tmp_path, player=FIXED, seat=seat, after=after, walk="all", replies=replies))
    assert_same_walk(tmp_path, plain, len(after))
    (row,) = rows_of(tmp_path / "proof" / "proof.csv")
    assert (row["start"], row["proved"]) == (result, "0")
    assert int(row["positions"]) == len(plain.seen)
    assert plain.shortest is not None
    assert len(row["line"].split()) == len(after) + len(plain.shortest)


@pytest.mark.parametrize(("seat", "result"), WALKED)
def test_a_walk_stops_at_the_end_of_a_shortest_line_to_a_mistake(tmp_path: Path, seat: str, result: str) -> None:
    after = STARTS[seat, result]
    plain = plain_walk(FIXED, seat, after)
    assert plain.shortest is not None
    report = prove_and_report(proof_settings(tmp_path, player=FIXED, seat=seat, after=after, part_positions=3))
    (row,) = rows_of(tmp_path / "proof" / "proof.csv")
    line = [int(text) - 1 for text in row["line"].split()]
    assert "".join(row["line"].split()).startswith(after)
    assert len(line) == len(after) + len(plain.shortest)
    before = start_of(GAME, "".join(str(action + 1) for action in line[:-1]))
    mistaken = GAME.step(before, torch.tensor(line[-1:]))
    assert plain.worth(plain.value_of(before)) > plain.worth(-plain.value_of(mistaken))
    assert (int(row["best_value"]), int(row["value"])) == (plain.value_of(before), -plain.value_of(mistaken))
    assert f"moving {seat} " in report
    assert f"it plays {line[-1] + 1}, which {row['in_words']}" in report
    assert sum(int(row[kind]) for kind in COUNTED[-3:]) == 1
    # Only this mistake and the positions before it are counted.
    whole = sum(plain.counts[ply, "positions"] for ply in range(len(plain.shortest)))
    assert int(row["positions"]) <= whole


@pytest.mark.parametrize(
    ("seat", "result", "ties"),
    [
        ("first", "win", "lowest"),
        pytest.param("second", "draw", "random", marks=pytest.mark.slow),
        pytest.param("second", "loss", "lowest", marks=pytest.mark.slow),
    ],
)
def test_perfect_play_is_proved(tmp_path: Path, seat: str, result: str, ties: str) -> None:
    after, name = STARTS[seat, result], f"perfect?ties={ties}"
    plain = plain_walk(name, seat, after)
    report = prove_and_report(proof_settings(tmp_path, player=name, seat=seat, after=after, walk_solved=True))
    proofs = {
        "win": f"is proved to win moving {seat} against every play",
        "draw": f"is proved not to lose moving {seat}",
        "loss": f"moving {seat} is proved never to lose by more or sooner than necessary",
    }
    assert proofs[result] in report
    assert_same_walk(tmp_path, plain, len(after))
    # What the player solves itself is not walked unless that is requested.
    short = prove_and_report(proof_settings(tmp_path, player=name, seat=seat, after=after))
    assert proofs[result] in short
    assert "plays by the exact solver itself" in short


def test_a_game_with_passes_and_points(tmp_path: Path) -> None:
    """In Othello on 4x4 squares, with the values of single positions by the solver."""
    game = make_game("othello_4x4")
    solver = make_exact_solver(game)
    after = "b1 c1 d4 a4 d3 a1"
    start = start_of(game, after)
    value = cache(lambda p: solver.value(game.state_at(torch.from_numpy(packed_array([p])))))
    for number, seat in enumerate(("first", "second")):
        plain = PlainWalk(game, Fixed(game), number, start, value)
        settings = proof_settings(tmp_path, game="othello_4x4", player=FIXED, seat=seat, after=after, walk="all")
        counts = prove_and_report(settings).partition("\nAll ")[2]
        # From another start than a lost one, losing sooner is neither a mistake nor counted.
        is_lost = (solver.value(start) < 0) == (int(start.current_player) == number)
        assert ("loses by more or sooner than necessary in " in counts) == is_lost
        assert_same_walk(tmp_path, plain, len(after.split()))
        assert plain.shortest is not None


def test_a_walk_needs_no_files() -> None:
    start, player, solver = start_of(GAME, STARTS["first", "win"]), Fixed(GAME), make_exact_solver(GAME, 10)
    state: dict[str, Any] = {}
    walk = Walk(GAME, start, 0, 1, lambda parts: (judge(part, player, solver) for part in parts), state)
    counts = list(walk.plies())
    assert [each.mistakes > 0 for each in counts] == [False] * (len(counts) - 1) + [True]
    shortest = PlainWalk(GAME, player, 0, start, plain_score).shortest
    assert shortest is not None
    assert len(counts[-1].line.split()) == len(shortest)
    assert [name for name in state if name.startswith("judged")] == []
