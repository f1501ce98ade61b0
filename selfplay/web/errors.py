"""What can go wrong between a browser and the server; each message is one plain sentence."""

from selfplay.errors import SelfPlayError


class NotFoundError(SelfPlayError):
    """A match, game, level or player that is not there."""


class BusyError(SelfPlayError):
    """The match is still at work on an earlier request."""


class StaleError(SelfPlayError):
    """The page shows an older position than the match has."""


class TooManyMatchesError(SelfPlayError):
    """The server holds as many matches as it may.

    Attributes:
        retry_after: seconds until one of them will have been left alone for too long.
    """

    def __init__(self, limit: int, retry_after: int) -> None:
        are_open = "1 match is open" if limit == 1 else f"{limit} matches are open"
        super().__init__(f"{are_open}, and this server holds no more; try again later")
        self.retry_after = retry_after
