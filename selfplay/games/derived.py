"""Games that are derived from another one: subclasses that give its class other rules.

    class Misere(TicTacToe):
        name = "misere"

        def __init__(self) -> None:
            super().__init__(3)
            self.rules = self.rules._replace(return_to_move=reversed_return)

What the other class declares about its rules is not true of these, unless the subclass declares it again.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from selfplay.names_of_games import parts_of_game_name

OF_RULES = {"exact_solver": None, "usual_evaluation": "none"}
"""What a class declares about its rules, and what a game without such a declaration has."""

DECLARED = (*OF_RULES, "name")
MISSING = object()


class Derivable:
    """The part of a game that notices that a subclass has other rules."""

    derived_from: type["Derivable"] | None = None
    """The class with whose rules this game began, and whose texts it may show; None: it has all its rules itself."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        base, own = cls.__mro__[1], vars(cls)
        if "rules" in own and getattr(base, "rules", own["rules"]) != own["rules"]:
            _forget(cls, cls, {name for name in DECLARED if _is_declared_above(cls, cls, name)})
        if "__init__" in own:
            cls.__init__ = _watched(cls, own["__init__"])  # type: ignore[method-assign]


def _watched(kind: type[Derivable], initialise: Callable[..., None]) -> Callable[..., None]:
    """The `__init__` of a class, which then compares the rules with those that its base class has given."""

    @wraps(initialise)
    def watched(self: Any, *arguments: Any, **options: Any) -> None:
        initialise(self, *arguments, **options)
        base = kind.__mro__[1]
        given: dict[str, Any] = vars(self).get("_given", {"rules": getattr(base, "rules", None)})
        if given["rules"] not in (None, self.rules):
            now = vars(self)
            unchanged = {name for name in DECLARED if now.get(name, MISSING) is given.get(name, MISSING)}
            _forget(self, kind, {name for name in unchanged if _is_declared_above(type(self), kind, name)})
        known = {name: vars(self)[name] for name in DECLARED if name in vars(self)}
        self._given = {"rules": getattr(self, "rules", None)} | known

    return watched


def _is_declared_above(whole: type[Derivable], kind: type[Derivable], name: str) -> bool:
    """Whether a class declares an attribute in a class above `kind`, which is the class itself or one above it."""
    return next((one for one in whole.__mro__ if name in vars(one)), None) in kind.__mro__[1:]


def _forget(derived: Any, kind: type[Derivable], inherited: set[str]) -> None:
    """Take these declarations about rules from a class, or an object of it, with other rules than its base class."""
    derived.derived_from = kind.__mro__[1]
    # The identity of a game has its attributes in their order, which that of a set is not.
    for name, value in OF_RULES.items():
        if name in inherited:
            setattr(derived, name, value)
    # Agents, opponents and formats of files are found by the name.
    if "name" in inherited:
        derived.name = kind.__name__ + derived.name.removeprefix(parts_of_game_name(derived.name).base)
