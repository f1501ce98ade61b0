"""Exact grades: how a player plays in every position of a small game, against every reply.

This is exhaustive, not a sample. A player is described by its policy in all positions for each seat, because it may act
differently in the same position when it moves first. The probability of each outcome and the number of lines of play
are computed from the ends of matches back to the start.
"""

from decimal import Decimal
from html import escape
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.games import Game
from selfplay.games.game import SEATS
from selfplay.games.position_graph import PositionGraph, enumerate_positions, optimal_actions, perfect_values
from selfplay.games.win_draw_loss import WinDrawLoss, mean_of_seats, share_text
from selfplay.players.capabilities import PredictsOutcomes, capability
from selfplay.players.checked_player import CheckedPlayer, checked_player
from selfplay.players.player import Player, policy_of, uniform_policy
from selfplay.tables import ERROR, LINES, PROBABILITY, SHARE, Row

FIRST, SECOND = 0, 1

LARGEST_EXACT = 10**7

EXACT_RESULTS = ("win", "draw", "loss")
GRADE_COLUMNS = {
    **{
        f"exact_{result}_vs_random{seat}": PROBABILITY for result in EXACT_RESULTS for seat in ("_first", "_second", "")
    },
    **{f"{lines}_{seat}": LINES for seat in SEATS for lines in ("losing_lines", "lines")},
    "optimal_action_rate": SHARE,
    "value_error": ERROR,
}
"""The columns of `Grade.fields`."""


class Lines(NamedTuple):
    """Number of lines of play in which the opponent tries every reply."""

    lost: int
    total: int


def unbeatable_seats(lines: tuple[Lines, Lines]) -> tuple[int, ...]:
    """The seats in which none of all lines of play is lost."""
    return tuple(seat for seat in range(2) if lines[seat].lost == 0)


def is_unbeatable(lines: tuple[Lines, Lines]) -> bool:
    """Whether the player is proved to lose in neither seat."""
    return len(unbeatable_seats(lines)) == 2


def count_text(count: int) -> str:
    """A count in readable form: 255168, 1.1 x 10^18."""
    if count < LARGEST_EXACT:
        return str(count)
    # As a float, a count of 309 digits would be infinite.
    digits, power = f"{Decimal(count):.1e}".split("e")
    return f"{digits} x 10^{int(power)}"


def lines_text(lines: Lines) -> str:
    """Lost lines and all lines: 3/59."""
    return "/".join(map(count_text, lines))


class Grade(NamedTuple):
    """The exact grade of a player. Pairs are by seat: moving first, moving second.

    Examples:
        >>> game = selfplay.make_game("tictactoe")
        >>> selfplay.grade(game, selfplay.RandomPlayer(game)).lines[0]  # moving first
        Lines(lost=77904, total=255168)
    """

    versus_random: tuple[WinDrawLoss[float], WinDrawLoss[float]]
    """Probabilities against the random player."""
    lines: tuple[Lines, Lines]
    """The number of lines when every reply is tried, and how many of them the player loses."""
    optimal_action_rate: float
    """The share of all positions, won, drawn or lost, in which the chosen action keeps the perfect value. A position
    in which either player can be to move counts half in each seat."""
    wins_given_away: Lines
    """`total`: positions that the player to move can win; `lost`: positions in which its action gives the win away."""
    value_error: float
    """Mean squared error of the player's values of all reachable afterstates, perfect values in {-1, 0, 1}; or nan."""
    shortest_loss: tuple[tuple[int, ...] | None, tuple[int, ...] | None]
    """The actions of a shortest lost line, in each seat; None if no line is lost."""
    player: str
    can_be_held: tuple[bool, bool]
    """The seats in which a perfect player never loses."""

    def can_lose(self, seat: int) -> bool:
        """Whether any line is lost in this seat."""
        return self.lines[seat].lost > 0

    def fields(self) -> Row:
        """The fields of GRADE_COLUMNS."""
        both = mean_of_seats(*self.versus_random)
        chances = {"_first": self.versus_random[FIRST], "_second": self.versus_random[SECOND], "": both}
        fields: Row = {"optimal_action_rate": self.optimal_action_rate, "value_error": self.value_error}
        for seat, chance in chances.items():
            exact = zip(EXACT_RESULTS, chance, strict=True)
            fields |= {f"exact_{result}_vs_random{seat}": probability for result, probability in exact}
        for seat, lines in zip(SEATS, self.lines, strict=True):
            fields |= {f"losing_lines_{seat}": lines.lost, f"lines_{seat}": lines.total}
        return fields

    def verdict(self, name: str) -> str:
        """One or two sentences that say whether the player, called `name`, can lose."""
        held = [seat for seat in range(2) if self.can_be_held[seat]]
        losing = [seat for seat in held if self.can_lose(seat)]
        if losing:
            counts = " and ".join(f"{lines_text(self.lines[seat])} moving {SEATS[seat]}" for seat in losing)
            return f"{name} can lose: of all lines tried it loses {counts}."
        total = count_text(sum(self.lines[seat].total for seat in held))
        if len(held) == 2:
            first, second = (count_text(self.lines[seat].total) for seat in held)
            return f"{name} cannot lose: all {total} lines tried, {first} moving first, {second} moving second."
        seat, other = SEATS[held[0]], SEATS[1 - held[0]]
        return (
            f"{name} cannot lose moving {seat}: all {total} lines tried. "
            f"Moving {other}, every player loses against perfect play."
        )

    def __repr__(self) -> str:
        return f"<Grade: {self}>"

    def _repr_html_(self) -> str:
        """The verdict and the figures, as a notebook shows them."""
        wins = [share_text(result.wins, 1, "%", rest=result.draws + result.losses) for result in self.versus_random]
        losses = [share_text(result.losses, 1, "%", rest=result.wins + result.draws) for result in self.versus_random]
        rows = {
            "lines lost": [lines_text(lines) for lines in self.lines],
            "wins against the random player": wins,
            "losses against the random player": losses,
        }
        cells = "".join(f"<tr><th>{name}</th><td>{'</td><td>'.join(row)}</td></tr>" for name, row in rows.items())
        head = f"<tr><th></th><th>moving {SEATS[FIRST]}</th><th>moving {SEATS[SECOND]}</th></tr>"
        return f"<p>{escape(str(self))}</p><table>{head}{cells}</table>"

    def __str__(self) -> str:
        """The verdict, such as "level 10 cannot lose: all 530 lines tried, 73 moving first, 457 moving second."."""
        return self.verdict(self.player)


Policy = NDArray[np.float64]
"""float64[N, A]: the probability of each action in each position; 0 where the match is over."""


class Grader:
    """Grades players of one game. The game is given by its positions, as an object, or by its name.

    Raises GameTooLargeError if the game cannot be enumerated.

    Examples:
        >>> grader = selfplay.Grader("tictactoe")
        >>> print(grader.grade(selfplay.PerfectPlayer(grader.graph)))
        perfect cannot lose: all 40480 lines tried, 31040 moving first, 9440 moving second.
    """

    def __init__(self, game: PositionGraph | Game | str) -> None:
        self.graph = graph = enumerate_positions(game)
        self.perfect = perfect_values(graph)
        self.optimal = optimal_actions(graph, self.perfect)

    def grade(self, player: Player) -> Grade:
        """The grade of a player. If its policy is random, every action of positive probability counts.

        Raises SettingError if it plays another game, NotNowError if it has no policy, and ConformanceError if a player
        from outside this package gives no probabilities of the legal actions.
        """
        policies = self.policies(player)
        random = uniform_policy(torch.from_numpy(self.graph.legal)).numpy()
        supports = tuple(policy > 0 for policy in policies)
        open_positions = ~self.graph.terminated
        winnable = open_positions & (self.perfect > 0)
        kept = self._kept(policies)
        return Grade(
            versus_random=(
                self.outcomes(policies[FIRST], random),
                self.outcomes(random, policies[SECOND]).reversed(),
            ),
            lines=(self._lines(supports[FIRST], FIRST), self._lines(supports[SECOND], SECOND)),
            optimal_action_rate=float(kept[open_positions].mean()),
            # The probabilities of several optimal actions add up to 1 only up to rounding.
            wins_given_away=Lines(int((kept[winnable] < 1 - 1e-9).sum()), int(winnable.sum())),
            value_error=self._value_error(player),
            shortest_loss=(self._shortest_loss(supports[FIRST], FIRST), self._shortest_loss(supports[SECOND], SECOND)),
            player=player.name,
            can_be_held=(self.can_hold(FIRST), self.can_hold(SECOND)),
        )

    def policies(self, player: Player) -> tuple[Policy, Policy]:
        """The policy of `player` in every position when it moves first, and when it moves second."""
        state, player = self.graph.state, checked_player(player, self.graph.game)

        def policy(seat: int) -> Policy:
            seated = state._replace(current_player=torch.full_like(state.current_player, seat))
            return np.where(self.graph.terminated[:, None], 0.0, policy_of(player, seated).numpy())

        return policy(FIRST), policy(SECOND)

    def outcomes(self, first: Policy, second: Policy) -> WinDrawLoss[float]:
        """The probability of each result for a player with the policy `first` that moves first against `second`."""
        graph = self.graph
        result = graph.return_to_move[:, None]
        mine = np.concatenate([result > 0, result == 0, result < 0], axis=1).astype(np.float64)
        other = mine[:, ::-1].copy()
        for group in graph.backwards():
            mine[group], other[group] = (
                np.einsum("na,nao->no", first[group], graph.after(group, mine, other)),
                np.einsum("na,nao->no", second[group], graph.after(group, other, mine)),
            )
        return WinDrawLoss(*map(float, mine[0]))

    def losses_to_best_replies(self, player: Player) -> tuple[float, float]:
        """The probability that a player loses, moving first and second, against the replies that make it largest."""
        graph, chances = self.graph, []
        for seat, policy in enumerate(self.policies(player)):
            mine, other = (graph.return_to_move < 0).astype(float), (graph.return_to_move > 0).astype(float)
            for group in graph.backwards():
                mine_after, other_after = graph.after(group, mine, other), graph.after(group, other, mine)
                mine[group] = (policy[group] * mine_after).sum(axis=1)
                other[group] = np.where(graph.legal[group], other_after, -1).max(axis=1)
            chances.append(float(mine[0] if seat == FIRST else other[0]))
        return chances[FIRST], chances[SECOND]

    def _kept(self, policies: tuple[Policy, Policy]) -> NDArray[np.float64]:
        """float64[N]: the probability of keeping the perfect value, averaged over the seats that can be to move."""
        kept = np.stack([(policy * self.optimal).sum(axis=1) for policy in policies])
        return np.average(kept, axis=0, weights=self.graph.movers)

    def can_hold(self, seat: int) -> bool:
        """Whether a perfect player never loses in this seat."""
        return bool(self.perfect[0] >= 0 if seat == FIRST else self.perfect[0] <= 0)

    def best_versus_random(self, *, never_lose: bool) -> tuple[float, float]:
        """The largest possible probability of winning against the random player, moving first and second.

        With `never_lose`, among the players that cannot lose; nan in a seat in which every player can lose.
        """
        graph = self.graph
        # In a lost position every action is allowed; a player that never loses does not reach one.
        values = graph.values_of_children(self.perfect, np.arange(len(graph)))
        safe = graph.legal & (values >= np.minimum(self.perfect, 0)[:, None])
        allowed = safe if never_lose else graph.legal
        mine, other = (graph.return_to_move > 0).astype(float), (graph.return_to_move < 0).astype(float)
        for group in graph.backwards():
            legal = graph.legal[group]
            mine_after, other_after = graph.after(group, mine, other), graph.after(group, other, mine)
            mine[group] = np.where(allowed[group], mine_after, -1).max(axis=1)
            other[group] = (legal * other_after).sum(axis=1) / legal.sum(axis=1)
        best = (float(mine[0]), float(other[0]))
        if not never_lose:
            return best
        return (best[0] if self.can_hold(FIRST) else np.nan, best[1] if self.can_hold(SECOND) else np.nan)

    def _lines(self, support: NDArray[np.bool_], seat: int) -> Lines:
        """Counts as Python ints, because SumTo100 has more lines than 64 bits hold."""
        graph = self.graph
        result = graph.return_to_move
        mine = np.stack([result < 0, np.ones(len(graph))], axis=1).astype(np.int64).astype(object)
        other = np.stack([result > 0, np.ones(len(graph))], axis=1).astype(np.int64).astype(object)
        for group in graph.backwards():
            mine_after, other_after = graph.after(group, mine, other), graph.after(group, other, mine)
            mine[group] = (support[group][:, :, None] * mine_after).sum(axis=1)
            other[group] = (graph.legal[group][:, :, None] * other_after).sum(axis=1)
        return Lines(*map(int, mine[0] if seat == FIRST else other[0]))

    def _shortest_loss(self, support: NDArray[np.bool_], seat: int) -> tuple[int, ...] | None:
        graph = self.graph
        # The length of the shortest lost line with the player and with the opponent to move.
        mine = np.where(graph.return_to_move < 0, 0.0, np.inf)
        other = np.where(graph.return_to_move > 0, 0.0, np.inf)
        for group in graph.backwards():
            mine_after, other_after = graph.after(group, mine, other), graph.after(group, other, mine)
            mine[group] = np.where(support[group], mine_after, np.inf).min(axis=1) + 1
            other[group] = np.where(graph.legal[group], other_after, np.inf).min(axis=1) + 1
        position, is_mine, actions = 0, seat == FIRST, []
        if np.isinf((mine if is_mine else other)[0]):
            return None
        while not graph.terminated[position]:
            allowed = support[position] if is_mine else graph.legal[position]
            following = graph.after(position, *((mine, other) if is_mine else (other, mine)))
            action = int(np.where(allowed, following, np.inf).argmin())
            actions.append(action)
            position = int(graph.children[position, action])
            is_mine = is_mine == bool(graph.moves_again[position])
        return tuple(actions)

    def _value_error(self, player: Player) -> float:
        # In a wrapper that does not only check it, a player may act differently from its predictions.
        inside = player.player if isinstance(player, CheckedPlayer) else player
        predicting = capability(player, PredictsOutcomes)
        if predicting is None or inside is not inside.unwrapped:
            return float("nan")
        graph, values = self.graph, predicting.predicted_outcomes(self.graph.state).numpy().astype(np.float64)
        to_mover, of_afterstate = (
            graph.values_of_children(self.perfect, np.arange(len(graph))),
            np.full(len(graph), 0.0),
        )
        of_afterstate[graph.children[graph.legal]] = np.square(values - to_mover)[graph.legal]
        return float(of_afterstate[1:].mean())
