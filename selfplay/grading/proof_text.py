"""Sentences about exact grades: that a player cannot lose, or how many lines it loses."""

from selfplay.grading.proof import SEAT_NAMES, Grade, Grader, Lines, unbeatable_seats

LARGEST_EXACT = 10**7
"""Larger counts are written as powers of ten."""


def count_text(count: int) -> str:
    """A count in readable form: 255168, 1.1 x 10^18."""
    if count < LARGEST_EXACT:
        return str(count)
    digits, power = f"{count:.1e}".split("e")
    return f"{digits} x 10^{int(power)}"


def lines_text(lines: Lines) -> str:
    """Lost lines and all lines: 3/59."""
    return "/".join(map(count_text, lines))


def seats_verdict(name: str, grade: Grade, grader: Grader) -> str:
    """One or two sentences that say whether the player with this name can lose."""
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
    """As `seats_verdict`, where only the lines are known, not the seats in which perfect play never loses."""
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
