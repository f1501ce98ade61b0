"""Games with matches of 400 plies: `Single`, in which one action is legal, and `Forced`, with a choice now and then."""

from typing import NamedTuple

from selfplay import Game, Rules, Word, number, position, rule, squares

LIMIT = 400


@position
class Position(NamedTuple):
    own: Word = squares(25)
    opp: Word = squares(25)
    plies: int = number(9)


def rules_of(choices):
    """The rules in which so many actions (a mask) are legal at every 25th ply, and action 0 at all others."""

    @rule
    def legal_actions(p):
        if p.plies >= LIMIT:
            return 0
        return choices if p.plies % 25 == 7 else 1

    @rule
    def play(p, action):
        own = p.own | 1 << (p.plies // 25 + action) if p.plies % 25 == 7 and action != 1 else p.own
        return Position(p.opp, own, p.plies + 1)

    @rule
    def is_terminal(p):
        return p.plies >= LIMIT

    @rule
    def return_to_move(p):
        return 0 if p.own == p.opp else 1 if p.own > p.opp else -1

    return Rules(Position(0, 0, 0), legal_actions, play, is_terminal, return_to_move)


class Forced(Game):
    name, num_distinct_actions, max_game_length = "forced", 3, LIMIT
    rules = rules_of(0b111)


class Single(Forced):
    name = "single"
    rules = rules_of(0b001)
