"""Rules that are called uncompiled with single positions, for the checks of a game."""

from collections.abc import Iterable
from math import prod

from selfplay.compute.bit_algebra import word_of
from selfplay.compute.stored_words import single_word
from selfplay.compute.words import WordInt, parts_of_bits
from selfplay.errors import ConformanceError
from selfplay.games.game import Game
from selfplay.games.numbered_words import NumberedWord
from selfplay.games.state import State


def single_positions(state: State, rows: Iterable[int] | None = None) -> list[tuple[WordInt, WordInt]]:
    """The words of positions as numbers, for rules that are called uncompiled; None: of all rows."""
    chosen = range(state.batch_size) if rows is None else rows
    return [(single_word(state.own, row), single_word(state.opp, row)) for row in chosen]


def legal_numbers(game: Game, own: WordInt, opp: WordInt) -> list[int]:
    """The legal actions of a position in which the match is not over; uncompiled."""
    legal = game.rules.legal_actions(own, opp)
    if legal == 0 and game.pass_action is not None:
        return [game.pass_action]
    return [action for action in range(game.num_distinct_actions) if (legal >> action) & 1]


def move_of(game: Game, action: int) -> WordInt:
    """The move of an action as rules take it, uncompiled."""
    return word_of([] if action == game.pass_action else [action], game.rules.word_bits)


def lowest_move(game: Game, own: WordInt, opp: WordInt) -> WordInt:
    """The move of the lowest legal action. Raises ConformanceError if there is none."""
    legal = legal_numbers(game, own, opp)
    if not legal:
        raise ConformanceError("no action is legal in a match at ply 0")
    return move_of(game, legal[0])


def played_singly(game: Game, own: WordInt, opp: WordInt, action: int) -> tuple[WordInt, WordInt, bool]:
    """The position after an action, and whether the match is over there; uncompiled.

    Raises ConformanceError for rules that compare a difference of words as if it had a sign.
    """
    rules = game.rules
    own, opp = rules.play(NumberedWord(own), NumberedWord(opp), move_of(game, action))
    own, opp = (WordInt(word, parts_of_bits(rules.word_bits)) for word in (own, opp))
    numbered = NumberedWord(own), NumberedWord(opp)
    rules.legal_actions(*numbered)
    return own, opp, bool(rules.is_terminal(*numbered))


def entries_singly(game: Game, own: WordInt, opp: WordInt) -> list[int]:
    """The observation of a position, uncompiled. Raises ConformanceError for entries that are not 0 or 1."""
    entries = [int(game.rules.observation_entry(own, opp, index)) for index in range(prod(game.observation_shape))]
    for number, entry in enumerate(entries):
        if entry not in (0, 1):
            raise ConformanceError(f"observation_entry gives {entry} for entry {number}, where it must give 0 or 1")
    return entries
