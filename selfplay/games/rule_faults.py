"""What fails in compiled rules, found again by calling the rules uncompiled, which know their lines."""

from collections.abc import Iterable
from typing import NoReturn

from selfplay.error_places import is_outside, place_of
from selfplay.errors import LONGEST_REASON, ConformanceError, RuleError, shortened, text_of
from selfplay.games.rules import Position, Rules

DIFFERENT = "compiled rules give a field of the position a value that does not fit, uncompiled rules do not"


def raise_fault(rules: Rules, plies: Iterable[tuple[Position, int]], error: Exception | None) -> NoReturn:
    """Raise RuleError for the first ply, a position and an action, whose rules fail uncompiled.

    If none does, raise `error`; None: compiled rules have given a position whose fields do not fit.
    """
    # What cannot be compiled has a place already, and what ran out of memory would again.
    is_of_rules = not (isinstance(error, MemoryError) or type(error).__module__.startswith("numba."))
    for position, action in plies if is_of_rules else ():
        try:
            _follow(rules, position, action)
        except Exception as found:
            raise rule_error(rules, found) from found
    raise ConformanceError(DIFFERENT, rules.play) if error is None else error


def rule_error(rules: Rules, error: Exception) -> RuleError:
    """An error that a rule has raised uncompiled, in one line with its place."""
    module = rules.play.__module__
    place = place_of(error, module) if is_outside(module) else ""
    return RuleError(f"{shortened(reason_of(error), LONGEST_REASON)}{place}")


def reason_of(error: BaseException) -> str:
    """What an error says, with its kind unless it is about the contract of games."""
    return text_of(error) if isinstance(error, ConformanceError) else f"{type(error).__name__}: {text_of(error)}"


def _follow(rules: Rules, position: Position, action: int) -> None:
    """Call the rules that stepping a match calls."""
    following = rules.play(position, action)
    if rules.moves_again is not None:
        rules.moves_again(following)
    rules.legal_actions(following)
    if rules.is_terminal(following):
        rules.return_to_move(following)
