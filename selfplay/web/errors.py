"""Errors that a request can raise. The page shows their messages."""

from selfplay.errors import SelfPlayError


class NotFoundError(SelfPlayError):
    """A match, game or opponent that does not exist."""


class BusyError(SelfPlayError):
    """The match is still working on an earlier request."""


class StaleError(SelfPlayError):
    """The page shows an outdated position of the match."""


class TooManyMatchesError(SelfPlayError):
    """The server, or one of its clients, has reached the limit of open matches.

    Attributes:
        retry_after: seconds until one of them expires.
    """

    def __init__(self, limit: int, retry_after: int, whose: str) -> None:
        are_open = "1 match is open" if limit == 1 else f"{limit} matches are open"
        super().__init__(f"{are_open}, which is the limit of {whose}; close one or try again later")
        self.retry_after = retry_after
