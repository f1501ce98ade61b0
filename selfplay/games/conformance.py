"""The contract of games as one check: `check_game` raises an error that names the first violation.

Random matches are played with the compiled rules, and everything else that the game provides is compared with them.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from random import Random

import torch

from selfplay.compute.compilation import FEW_POSITIONS
from selfplay.compute.random_numbers import Draws
from selfplay.error_places import compile_fault, is_outside, place_of
from selfplay.errors import LONGEST_REASON, ConformanceError, RuleError, shortened
from selfplay.games import Game, make_game
from selfplay.games.conformance_checks import CHECKS, check_repetition
from selfplay.games.conformance_matches import NO_ACTION, Played, check_length, check_many_matches, random_plies
from selfplay.games.conformance_rules import (
    check_attributes,
    check_compiled_points,
    check_points,
    check_results,
    check_rules,
)
from selfplay.games.rule_faults import reason_of
from selfplay.games.rules import Position, ended
from selfplay.games.single_positions import check_none_legal, expect, legal_numbers, observed_singly, played_singly

QUICK_MATCHES, QUICK_PLIES = 2, 1000
"""The fewest matches of the quick check, and the most plies of each."""
QUICK_PLIES_IN_ALL = 300
"""Short matches are played until they have this number of plies together."""

DEPTHS = 5
"""The most plies of the counts that are printed if none are given."""
MOST_SEQUENCES = 10**8
"""About the largest count that is printed: counting it takes seconds."""
RULES_HAVE = "what rules consist of: docs/game_reference.md, The rules"


def compile_rules(game: Game) -> None:
    """Run each kernel with so many positions that it is compiled, and remains so in the checks."""
    state, kernels = game.init(FEW_POSITIONS + 1), game.kernels
    kernels.step(state, kernels.random_actions(state, Draws(0, torch.arange(state.batch_size), 0)))
    kernels.ends(state.position)
    for mask in (kernels.legal_action_mask, kernels.sensible_action_mask):
        mask(state, game.num_distinct_actions)
    for counted in (kernels.margin, kernels.points, kernels.owned):
        if counted is not None:
            counted(state.position)


def check_quickly(game: Game) -> None:
    """Check quickly that random matches can be played and end, and that texts are read; nothing is compiled.

    Raises ConformanceError, with one line about the first violation.
    """
    with _named(game, "rules"):
        check_attributes(game)
        check_rules(game)
        check_results(game)
        random = Random(0)
        matches = list[list[Position]]()
        while len(matches) < QUICK_MATCHES or sum(map(len, matches)) < QUICK_PLIES_IN_ALL:
            matches.append(single_match(game, random))
    if game.rules.observed is not None:
        with _named(game, "observation"):
            for positions in matches[:QUICK_MATCHES]:
                observed_singly(game, positions[-1])
    with _named(game, "ends"):
        check_repetition(positions[:-1] for positions in matches)
        if game.max_game_length <= QUICK_PLIES:
            for positions in matches:
                check_length(game, ended(game.rules, positions[-1])[0])
    with _named(game, "points"):
        check_points(game, (positions[-1] for positions in matches if ended(game.rules, positions[-1])[0]))
    for subject in ("symmetries", "texts"):
        with _named(game, subject):
            CHECKS[subject](game, ())


def single_match(game: Game, random: Random) -> list[Position]:
    """The positions of a random match, uncompiled; at most `QUICK_PLIES` plies."""
    positions, over = [game.rules.initial], False
    while not over and len(positions) <= min(game.max_game_length, QUICK_PLIES):
        legal = legal_numbers(game, positions[-1])
        expect(bool(legal), NO_ACTION.format(ply=len(positions) - 1), game.rules.legal_actions)
        following, over = played_singly(game, positions[-1], random.choice(legal))
        positions.append(following)
        if over:
            check_none_legal(game, following)
    return positions


def check_game(game: Game | str, perft: Sequence[int] = ()) -> Played:
    """Check that `game` satisfies the contract; raise ConformanceError with one line about the first violation.

    Checks legality, perspective, symmetries, texts, the length of matches, that stepping a finished match changes
    nothing, that points agree with results, that compiled and uncompiled rules agree, and the counts of `perft`.

    Args:
        game: the game, or its name.
        perft: perft[d - 1] is the known number of sequences of d plies from the start.

    Returns: how many random matches were played.

    Examples:
        >>> selfplay.check_game("tictactoe", perft=[9, 72, 504]).matches
        8192
        >>> selfplay.check_game("tictactoe", perft=[9, 81])  # the second count is wrong
        Traceback (most recent call last):
        selfplay.errors.ConformanceError: tictactoe: perft: depth 2 counts 72 sequences, not 81
    """
    game = make_game(game)
    with _named(game, "rules"):
        check_attributes(game)
        check_rules(game)
        check_results(game)
    with _named(game, "compiled rules"):
        compile_rules(game)
    with _named(game, "rules"):
        plies = random_plies(game)
    for subject, check in {**CHECKS, "points": check_compiled_points}.items():
        with _named(game, subject):
            check(game, plies)
    with _named(game, "further matches"):
        played = check_many_matches(game)
    with _named(game, "perft"):
        for depth, expected in enumerate(perft, start=1):
            count = game.kernels.perft(game.rules.initial, depth, False)
            expect(count == expected, f"depth {depth} counts {count:,} sequences, not {expected:,}")
    return played


def counts_of_sequences(game: Game) -> list[int]:
    """The number of sequences of 1, 2, 3, ... plies from the start, up to DEPTHS or to about MOST_SEQUENCES.

    Raises ConformanceError if a rule fails in one.
    """
    with _named(game, "sequences"):
        counts = [game.kernels.perft(game.rules.initial, 1, False)]
        while len(counts) < DEPTHS and counts[-1] * counts[0] <= MOST_SEQUENCES:
            counts.append(game.kernels.perft(game.rules.initial, len(counts) + 1, False))
    return counts


@contextmanager
def _named(game: Game, subject: str) -> Iterator[None]:
    """Turn every error, including those raised by the game, into a ConformanceError of one line."""
    try:
        yield
    # A game can also end the program.
    except (Exception, SystemExit) as error:
        module, name = type(game).__module__, getattr(game, "name", type(game).__name__)
        if isinstance(error, RuleError):
            raise ConformanceError(f"{name}: rules: {error}") from error
        reason, place = compile_fault(error) or (
            reason_of(error),
            place_of(error, module) if is_outside(module) else "",
        )
        is_mistaken = isinstance(error, TypeError | IndexError | AttributeError) and ", in " in place
        if subject == "compiled rules" or (subject == "rules" and is_mistaken):
            reason = f"{reason}; {RULES_HAVE}"
        raise ConformanceError(f"{name}: {subject}: {shortened(reason, LONGEST_REASON)}{place}") from error
