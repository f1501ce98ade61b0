"""The exact grade of a player, and sentences about it: that the player cannot lose, or how many lines it loses."""

from html import escape
from typing import NamedTuple

from selfplay.games.win_draw_loss import WinDrawLoss

FIRST, SECOND = 0, 1
SEAT_NAMES = ("first", "second")

SMALLEST_SHARE = 0.0001
LARGEST_EXACT = 10**7
"""Larger counts are written as powers of ten."""


class Lines(NamedTuple):
    """Number of lines of play in which the opponent tries every reply."""

    lost: int
    total: int


def unbeatable_seats(lines: tuple[Lines, Lines]) -> tuple[int, ...]:
    """The seats in which no line is lost.

    `lines`: those of a player whose lines of play were all tried, in each seat.
    """
    return tuple(seat for seat in range(2) if lines[seat].lost == 0)


def is_unbeatable(lines: tuple[Lines, Lines]) -> bool:
    """Whether the player is proved to lose in neither seat."""
    return len(unbeatable_seats(lines)) == 2


def count_text(count: int) -> str:
    """A count in readable form: 255168, 1.1 x 10^18."""
    if count < LARGEST_EXACT:
        return str(count)
    digits, power = f"{count:.1e}".split("e")
    return f"{digits} x 10^{int(power)}"


def share_text(share: float) -> str:
    """An exact share with four decimals; one that is not 0 or 1 is not written as such: <0.0001, >0.9999."""
    if share in (0, 1):
        return f"{share:.0f}"
    if share < SMALLEST_SHARE:
        return f"<{SMALLEST_SHARE:.4f}"
    return f">{1 - SMALLEST_SHARE:.4f}" if share > 1 - SMALLEST_SHARE else f"{share:.4f}"


def lines_text(lines: Lines) -> str:
    """Lost lines and all lines: 3/59."""
    return "/".join(map(count_text, lines))


def lines_verdict(name: str, lines: tuple[Lines, Lines]) -> str:
    """As `Grade.verdict`, where only the lines are known, not the seats in which perfect play never loses."""
    proved = unbeatable_seats(lines)
    if len(proved) == 1:
        seat, other = proved[0], 1 - proved[0]
        return (
            f"{name} cannot lose moving {SEAT_NAMES[seat]}: all {count_text(lines[seat].total)} lines tried. "
            f"Moving {SEAT_NAMES[other]} it loses {lines_text(lines[other])}."
        )
    first, second = map(lines_text, lines)
    loses = "it can lose" if not proved else "it cannot lose"
    return f"{name} loses {first} lines moving first and {second} moving second: {loses}."


class Grade(NamedTuple):
    """The exact grade of a player. Pairs are by seat: moving first, moving second."""

    versus_random: tuple[WinDrawLoss[float], WinDrawLoss[float]]
    """Probabilities against the random player."""
    lines: tuple[Lines, Lines]
    """The number of lines when every reply is tried, and how many of them the player loses."""
    optimal_action_rate: float
    """The share of all positions, won, drawn or lost, in which the chosen action keeps the perfect value. A position
    in which either player can be to move counts half in each seat."""
    wins_taken: Lines
    """`total`: positions that the player to move can win; `lost`: those in which its action gives the win away."""
    value_error: float
    """Mean squared error of the player's values of all reachable afterstates, perfect values in {-1, 0, 1}; or nan."""
    shortest_loss: tuple[tuple[int, ...] | None, tuple[int, ...] | None]
    """The actions of a shortest lost line, in each seat; None if no line is lost."""
    player: str
    """The name of the player."""
    can_be_held: tuple[bool, bool]
    """The seats in which a perfect player never loses."""

    def can_lose(self, seat: int) -> bool:
        """Whether any line is lost in this seat."""
        return self.lines[seat].lost > 0

    def verdict(self, name: str) -> str:
        """One or two sentences that say whether the player, called `name`, can lose."""
        held = [seat for seat in range(2) if self.can_be_held[seat]]
        losing = [seat for seat in held if self.can_lose(seat)]
        if losing:
            counts = " and ".join(f"{lines_text(self.lines[seat])} moving {SEAT_NAMES[seat]}" for seat in losing)
            return f"{name} can lose: of all lines tried it loses {counts}."
        total = count_text(sum(self.lines[seat].total for seat in held))
        if len(held) == 2:
            first, second = (count_text(self.lines[seat].total) for seat in held)
            return f"{name} cannot lose: all {total} lines tried, {first} moving first and {second} moving second."
        seat, other = SEAT_NAMES[held[0]], SEAT_NAMES[1 - held[0]]
        return (
            f"{name} cannot lose moving {seat}: all {total} lines tried. "
            f"Moving {other}, every player loses against perfect play."
        )

    def __repr__(self) -> str:
        return f"<Grade: {self}>"

    def _repr_html_(self) -> str:
        """The verdict and the figures, as a notebook shows them."""
        wins = [f"{100 * result.wins:.1f}%" for result in self.versus_random]
        losses = [f"{100 * result.losses:.1f}%" for result in self.versus_random]
        rows = {
            "lines lost": [lines_text(lines) for lines in self.lines],
            "wins against the random player": wins,
            "losses against the random player": losses,
        }
        cells = "".join(f"<tr><th>{name}</th><td>{'</td><td>'.join(row)}</td></tr>" for name, row in rows.items())
        head = f"<tr><th></th><th>moving {SEAT_NAMES[FIRST]}</th><th>moving {SEAT_NAMES[SECOND]}</th></tr>"
        return f"<p>{escape(str(self))}</p><table>{head}{cells}</table>"

    def __str__(self) -> str:
        """The verdict, such as "level 10 cannot lose: all 530 lines tried, 73 moving first and 457 moving second."."""
        return self.verdict(self.player)
