"""Kalah: a move sows the seeds of an own pit, one into each next pit and the own store, not into the other's store.

Pits 0 to `pits - 1` are those of the player to move; their store follows, then the pits and the store of the other. A
last seed in the own store moves again; one in an own pit that was empty captures it and the seeds opposite. The match
ends when the pits of a player are empty; each then has the seeds on their side.
"""

from typing import NamedTuple

from selfplay import Game, Rules, flag, numbers, position, replaced, rule


def kalah_rules(pits, seeds_in_each):
    half, everything = pits + 1, 2 * pits + 2
    store, other_store = pits, 2 * pits + 1

    @position
    class Position(NamedTuple):
        seeds: tuple[int, ...] = numbers(everything, up_to=2 * pits * seeds_in_each)
        again: int = flag()

    @rule
    def legal_actions(p):
        if is_terminal(p):
            return 0
        found = 0
        for pit in range(pits):
            if p.seeds[pit] > 0:
                found |= 1 << pit
        return found

    @rule
    def sown(before, first):
        """The seeds after a pit is sown, and where the last one falls."""
        after, hand, pit = replaced(before, first, 0), before[first], first
        while hand > 0:
            pit = (pit + 1) % everything
            if pit != other_store:
                after = replaced(after, pit, after[pit] + 1)
                hand -= 1
        return after, pit

    @rule
    def play(p, action):
        after, last = sown(p.seeds, action)
        opposite = 2 * pits - last
        if last < store and after[last] == 1 and after[opposite] > 0:
            after = replaced(after, store, after[store] + after[opposite] + 1)
            after = replaced(replaced(after, last, 0), opposite, 0)
        if last == store:
            return Position(after, again=1)
        return Position(after[half:] + after[:half], again=0)

    @rule
    def is_terminal(p):
        return sum(p.seeds[:pits]) == 0 or sum(p.seeds[half:other_store]) == 0

    @rule
    def margin(p):
        return sum(p.seeds[:half]) - sum(p.seeds[half:])

    @rule
    def return_to_move(p):
        lead = margin(p)
        return (lead > 0) - (lead < 0)

    @rule
    def moves_again(p):
        return p.again == 1

    start = Position((*[seeds_in_each] * pits, 0) * 2, again=0)
    return Rules(start, legal_actions, play, is_terminal, return_to_move, moves_again=moves_again, margin=margin)


class Kalah(Game):
    """Six pits of four seeds for each player."""

    name = "kalah"
    num_distinct_actions = 6
    observation_shape = (15,)
    max_game_length = 200
    most_points = 48
    rules = kalah_rules(6, 4)


class SmallKalah(Game):
    """Three pits of two seeds for each player."""

    name = "small_kalah"
    num_distinct_actions = 3
    max_game_length = 60
    most_points = 12
    rules = kalah_rules(3, 2)
