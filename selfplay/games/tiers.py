"""The two tiers in which what plays a game is compiled: for all games, or for one.

The general tier of a search or a kernel is compiled once for all games, with the general rules
(`selfplay.games.general_rules`), and is in the cache on disk from then on: in a new game only its rules are compiled.
The special tier has the rules of one game compiled into it, which takes longer and then runs up to twice as fast. Both
find the same, bit for bit. `selfplay.search.tiers` says when a search uses which.
"""

from collections.abc import Callable
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.compilation import FEW_POSITIONS, IS_UNCOMPILED, Words, compiled, is_in_plain_python, uncompiled
from selfplay.compute.compiled_word_type import word_dtype
from selfplay.compute.compiled_words import stored_rows, word_rows
from selfplay.games.general_rules import IN_TABLE, RulesTable, general_rules, rules_table, size_of
from selfplay.games.rules import Rules

STEPS_BEFORE_SPECIAL = 5_000_000
"""How many positions are processed with general rules before special ones are compiled: each takes 0.1 to 1 us longer.
"""


class Tier(NamedTuple):
    """The rules with which something is compiled that plays a game."""

    rules: Rules
    pass_action: int | None
    table: RulesTable | None
    """That of the game, with general rules; None: these are its own."""

    @property
    def word(self) -> "np.dtype[Any]":
        """That of packed positions in arrays."""
        of = self.rules.position
        return word_dtype(of.num_words, is_general=of.is_general)

    def rows(self, packed: NDArray[np.int64]) -> Words:
        """Positions of the game (int64[B, W]) as compiled code takes them."""
        return word_rows(packed) if self.table is None else self.table.rows(packed)

    def rows_for(self, packed: NDArray[np.int64]) -> Words:
        """Rows for compiled code to write positions into, which `write_back` puts into int64[B, W]."""
        return word_rows(packed) if self.table is None else np.empty(len(packed), dtype=self.word)

    def write_back(self, rows: Words, packed: NDArray[np.int64]) -> None:
        """See `rows_for`."""
        if self.table is not None:
            packed[:] = stored_rows(rows)[:, : packed.shape[1]]


@cache
def tier_of(rules: Rules, pass_action: int | None, *, is_general: bool) -> Tier:
    """A tier of the game with these rules; the special one too if its positions are too large for the general one."""
    size = size_of(rules) if is_general else None
    if size is None:
        return Tier(rules, pass_action, None)
    return Tier(general_rules(size), IN_TABLE, rules_table(rules, pass_action, size))


# ---------------------------------------------------------------------- kernels

KernelOf = Callable[[Rules, int | None], Callable[..., Any]]
"""From rules and the action that passes to a function of [B] positions, to be compiled."""


class TieredKernel:
    """A function of [B] positions of a game: in plain Python for the first ones, which takes less time than to compile
    it, then compiled with general rules, and with its own once it has had very many. All find the same.

    In a block of `in_plain_python`, it is in plain Python.

    Args:
        in_plain_python: False: it is always compiled.
    """

    def __init__(
        self, kernel_of: KernelOf, rules: Rules, pass_action: int | None, *, in_plain_python: bool = True
    ) -> None:
        self._kernel_of, self._game, self._had, self._has_plain = kernel_of, (rules, pass_action), 0, in_plain_python

    @cached_property
    def _plain(self) -> Callable[..., Any]:
        plain: Callable[..., Any] = uncompiled(self._kernel_of(*self._game))
        return plain

    def chosen(self, count: int) -> tuple[Tier, Callable[..., Any]]:
        """The function for this number of positions, and the tier of its positions."""
        if not is_in_plain_python():
            self._had += count
        is_plain = self._has_plain and (is_in_plain_python() or self._had <= FEW_POSITIONS)
        if is_plain or IS_UNCOMPILED:
            return tier_of(*self._game, is_general=False), self._plain
        tier = tier_of(*self._game, is_general=self._had <= STEPS_BEFORE_SPECIAL)
        return tier, _compiled_kernel(self._kernel_of, tier.rules, tier.pass_action)


@cache
def _compiled_kernel(kernel_of: KernelOf, rules: Rules, pass_action: int | None) -> Callable[..., Any]:
    return compiled(kernel_of(rules, pass_action))
