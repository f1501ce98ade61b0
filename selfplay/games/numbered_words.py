"""Words with which `check_game` calls rules to find comparisons of numbers below 0, which words cannot be."""

from typing import Any, cast

from selfplay.compute.words import WordInt
from selfplay.errors import ConformanceError

NO_SIGN = (
    "it compares {number} as a word, and words have no sign, so that it counts as {word}; compare the two words "
    "with each other, as in (own > opp) * 1 - (own < opp) * 1, or subtract numbers, as in bit_count(own) - "
    "bit_count(opp)"
)


class NumberedWord(WordInt):
    """A word that knows which number it would be if words had a sign. Comparing it where they differ is an error."""

    number: int

    def __new__(cls, word: WordInt, number: int | None = None) -> "NumberedWord":
        made = cast(NumberedWord, super().__new__(cls, word, word.num_parts))
        made.number = int(word) if number is None else number
        return made


def _number(operand: Any) -> int:
    return operand.number if isinstance(operand, NumberedWord) else int(operand)


def _numbered(name: str, *, keeps_sign: bool) -> Any:
    """The operator with this name. The result of an operator on bits is taken as a word without a sign."""
    of_words, of_numbers = getattr(WordInt, name), getattr(int, name)

    def method(self: NumberedWord, *others: Any) -> Any:
        word = of_words(self, *others)
        if word is NotImplemented:
            return word
        number = of_numbers(_number(self), *map(_number, others)) if keeps_sign else int(word)
        return NumberedWord(word, number)

    return method


def _compared(name: str) -> Any:
    of_words = getattr(WordInt, name)

    def method(self: NumberedWord, other: Any) -> Any:
        for number in map(_number, (self, other)):
            if (word := int(WordInt(number, self.num_parts))) != number:
                raise ConformanceError(NO_SIGN.format(number=number, word=word))
        return of_words(self, other)

    return method


for name in ("add", "radd", "sub", "rsub", "mul", "rmul", "neg"):
    setattr(NumberedWord, f"__{name}__", _numbered(f"__{name}__", keeps_sign=True))
for name in ("and", "rand", "or", "ror", "xor", "rxor", "lshift", "rlshift", "rshift", "invert"):
    setattr(NumberedWord, f"__{name}__", _numbered(f"__{name}__", keeps_sign=False))
for name in ("lt", "le", "gt", "ge"):
    setattr(NumberedWord, f"__{name}__", _compared(f"__{name}__"))
