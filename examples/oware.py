"""Oware: sow the seeds of a pit around the board; a last pit of the other player with two or three seeds is captured.

Pits 0 to 5 are those of the player to move, 6 to 11 those of the other. Action i sows pit i: a seed into each next pit,
not into pit i itself. If the last seed makes two or three in a pit of the other player, these are captured, and so are
those of the pits before it, one after the other, as long as they have two or three. A capture of all seeds of the other
player takes nothing. Who can must leave the other player a seed.

    selfplay learn game=oware:Oware
"""

from typing import NamedTuple

from selfplay import Game, Presentation, Rules, number, numbers, position, replaced, rule

PITS, SEEDS = 6, 48
LIMIT = 200  # plies; few seeds can go round forever


@position
class Position(NamedTuple):
    seeds: tuple[int, ...] = numbers(2 * PITS, up_to=SEEDS)
    taken: tuple[int, ...] = numbers(2, up_to=SEEDS)  # by the player to move and by the other
    plies: int = number(8)


@rule
def sown(seeds: tuple[int, ...], start: int) -> tuple[tuple[int, ...], int]:
    """The seeds after a pit is sown, and the pit of the last one."""
    after, hand, pit = replaced(seeds, start, 0), seeds[start], start
    while hand > 0:
        pit = (pit + 1) % (2 * PITS)
        if pit != start:
            after = replaced(after, pit, after[pit] + 1)
            hand -= 1
    return after, pit


@rule
def legal_actions(p: Position) -> int:
    if p.taken[0] > SEEDS // 2 or p.taken[1] > SEEDS // 2 or p.plies >= LIMIT:
        return 0
    found = 0
    is_fed = sum(p.seeds[PITS:]) > 0
    for pit in range(PITS):
        # A pit reaches the other side with as many seeds as there are pits up to it.
        if p.seeds[pit] > 0 and (is_fed or p.seeds[pit] >= PITS - pit):
            found |= 1 << pit
    return found


@rule
def play(p: Position, action: int) -> Position:
    seeds, pit = sown(p.seeds, action)
    left, count = seeds, 0
    while pit >= PITS and (left[pit] == 2 or left[pit] == 3):
        count += left[pit]
        left = replaced(left, pit, 0)
        pit -= 1
    if sum(left[PITS:]) == 0:
        left, count = seeds, 0
    return Position(left[PITS:] + left[:PITS], (p.taken[1], p.taken[0] + count), p.plies + 1)


@rule
def margin(p: Position) -> int:
    """At the end each player also has the seeds of the own pits."""
    return p.taken[0] + sum(p.seeds[:PITS]) - p.taken[1] - sum(p.seeds[PITS:])


@rule
def return_to_move(p: Position) -> int:
    return (margin(p) > 0) - (margin(p) < 0)


class OwarePresentation(Presentation):
    title = "Oware"
    aim = "Capture more seeds than the other player."
    action_help = f"one of your pits, from 1 to {PITS}"
    how_to_play = (
        "Each player has six pits with four seeds each.",
        "A move sows all seeds of one of your pits, one into each next pit.",
        "If the last seed makes two or three in a pit of the other player, you capture them, and so on backwards.",
        "A move that would capture all seeds of the other player captures nothing.",
        "If the other player has no seeds, you must give some if you can.",
        f"The match ends when a player has more than half of the seeds or no move, or after {LIMIT} plies.",
    )


class Oware(Game):
    name = "oware"
    num_distinct_actions = PITS
    observation_shape = (2 * PITS + 2 + 8,)
    max_game_length = LIMIT
    most_points = float(SEEDS)
    rules = Rules(
        Position((4,) * (2 * PITS), (0, 0), 0), legal_actions, play, return_to_move=return_to_move, margin=margin
    )
    presentation_class = OwarePresentation

    def action_to_string(self, action: int) -> str:
        return str(action + 1)
