"""What a grade says about losing: what is proved, and in words."""

from selfplay.grading.proof import SEAT_NAMES, Grade, Grader, Lines

LARGEST_EXACT = 10**7
"""Larger counts are written as powers of ten, because nobody reads so many digits."""


def unbeatable_seats(lines: tuple[Lines, Lines]) -> tuple[int, ...]:
    """The seats in which no line is lost, of a player whose `lines` of play were all tried in each seat.

    A player is proved unbeatable if these are both.
    """
    return tuple(seat for seat in range(2) if lines[seat].lost == 0)


def is_unbeatable(lines: tuple[Lines, Lines]) -> bool:
    """Whether it is proved that the player loses in neither seat."""
    return len(unbeatable_seats(lines)) == 2


def count_text(count: int) -> str:
    """A count as people read it: 255168, 1.1 x 10^18."""
    if count < LARGEST_EXACT:
        return str(count)
    digits, power = f"{count:.1e}".split("e")
    return f"{digits} x 10^{int(power)}"


def lines_text(lines: Lines) -> str:
    """Lines lost, of all that there are: 3/59."""
    return "/".join(map(count_text, lines))


def seats_verdict(name: str, grade: Grade, grader: Grader) -> str:
    """Whether the player of that name can lose, in a sentence or two."""
    held = [seat for seat in range(2) if grader.can_hold(seat)]
    losing = [seat for seat in held if grade.can_lose(seat)]
    if losing:
        counts = " and ".join(f"{lines_text(grade.lines[seat])} moving {SEAT_NAMES[seat]}" for seat in losing)
        return f"{name} can lose: of all lines tried it loses {counts}."
    total = count_text(sum(grade.lines[seat].total for seat in held))
    if len(held) == 2:
        first, second = (count_text(grade.lines[seat].total) for seat in held)
        return f"{name} cannot lose: all {total} lines tried, {first} moving first and {second} moving second."
    seat, other = SEAT_NAMES[held[0]], SEAT_NAMES[1 - held[0]]
    return (
        f"{name} cannot lose moving {seat}: all {total} lines tried. "
        f"Moving {other}, every player loses against perfect play."
    )


def lines_verdict(name: str, lines: tuple[Lines, Lines]) -> str:
    """As `seats_verdict`, where no more than the lines is known: not which seat perfect play can hold."""
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
