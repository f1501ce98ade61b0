"""Which seats of a match people hold."""

from enum import StrEnum


class People(StrEnum):
    """The seats of people, as requests and answers name them: one of them, both, or neither, to watch two players."""

    FIRST = "first"
    SECOND = "second"
    BOTH = "both"
    NONE = "none"

    @property
    def seats(self) -> frozenset[int]:
        """The seats that people hold: 0 moves first, 1 second."""
        return SEATS[self]

    @property
    def only_seat(self) -> int | None:
        """The seat of the only person; None if both or none of the players are people."""
        return next(iter(self.seats)) if len(self.seats) == 1 else None


SEATS = {
    People.FIRST: frozenset({0}),
    People.SECOND: frozenset({1}),
    People.BOTH: frozenset({0, 1}),
    People.NONE: frozenset[int](),
}
