"""The errors of requests, and their responses: a sentence in JSON, which the page shows, and an HTTP status."""

import logging

from fastapi import FastAPI, Request, status
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from selfplay.errors import IllegalActionError, NotNowError, SelfPlayError, SettingError

log = logging.getLogger(__name__)


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


STATUS = {
    NotFoundError: status.HTTP_404_NOT_FOUND,
    TooManyMatchesError: status.HTTP_503_SERVICE_UNAVAILABLE,
    SettingError: status.HTTP_422_UNPROCESSABLE_CONTENT,
    IllegalActionError: status.HTTP_409_CONFLICT,
    NotNowError: status.HTTP_409_CONFLICT,
    BusyError: status.HTTP_409_CONFLICT,
    StaleError: status.HTTP_409_CONFLICT,
}
"""The status of each type of error. All other errors of this package are conflicts too, such as a broken or missing
file, or a game that is too large."""

SENTENCES = {
    "Not Found": "there is nothing at this address",
    "Method Not Allowed": "this address does not support this method",
}

INVALID_JSON = "the body is not valid JSON"


def add_error_handlers(app: FastAPI) -> None:
    """Make the application answer errors with these responses."""

    def answer(code: int, sentence: str, headers: dict[str, str] | None = None) -> JSONResponse:
        return JSONResponse({"error": sentence}, code, headers)

    async def user_error(_: Request, error: Exception) -> JSONResponse:
        code = next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), status.HTTP_409_CONFLICT)
        return answer(
            code,
            str(error),
            {"Retry-After": str(error.retry_after)} if isinstance(error, TooManyMatchesError) else None,
        )

    async def wrong_request(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            return answer(status.HTTP_422_UNPROCESSABLE_CONTENT, INVALID_JSON)
        where = ".".join(str(part) for part in first["loc"] if part != "body")
        return answer(status.HTTP_422_UNPROCESSABLE_CONTENT, f"{where or 'the body'}: {first['msg']}")

    async def http_error(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        if error.status_code == status.HTTP_400_BAD_REQUEST:
            # FastAPI raises this for a body that is not text, or nested too deeply.
            return answer(status.HTTP_422_UNPROCESSABLE_CONTENT, INVALID_JSON)
        sentence = SENTENCES.get(error.detail, error.detail)
        return answer(error.status_code, sentence, dict(error.headers or {}))

    async def internal_error(_: Request, error: Exception) -> JSONResponse:
        log.error("a request failed", exc_info=error)
        return answer(status.HTTP_500_INTERNAL_SERVER_ERROR, "internal error of the server; see its log")

    app.add_exception_handler(SelfPlayError, user_error)
    app.add_exception_handler(RequestValidationError, wrong_request)
    app.add_exception_handler(HTTPException, http_error)
    app.add_exception_handler(Exception, internal_error)
