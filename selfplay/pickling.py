"""How objects are pickled that hold compiled functions, locks or open files, which cannot be."""

from functools import partial
from typing import Any, Self


class MadeAgain:
    """An object that is pickled as the call that made it, and made again by it."""

    _make: partial[Self]

    def __new__(cls, *arguments: Any, **options: Any) -> Self:
        made = super().__new__(cls)
        made._make = partial(cls, *arguments, **options)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return self._make, ()
