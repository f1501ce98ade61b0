"""Middleware that looks at each request before the application: where it comes from, and how much it asks for."""

import asyncio
import logging
from collections.abc import Collection
from contextlib import nullcontext
from urllib.parse import urlsplit

from h11 import LocalProtocolError
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from selfplay.settings.playing import WebSettings
from selfplay.web.waiting_clients import BusyError, RequestLimit, client_of

log = logging.getLogger(__name__)

MAX_BODY_BYTES = 16_384
"""The largest size of a body; those that the page sends have a few hundred bytes."""
MOST_HEAD_BYTES = 16_384
"""The largest size of the target and the headers of a request."""
MOST_READ_BYTES = 1 << 18
"""The most that is read of a head or a body. A connection on which a client sends more is reset, and the client may not
see the answer."""

MOST_REQUESTS = 64
"""Number of requests of one client that are answered at a time, for each of its searches (`client_searches`). A browser
sends six."""

HEADERS = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    # Browsers check for a new version of a file each time.
    "Cache-Control": "no-cache",
}


def allowed_hosts(settings: WebSettings) -> list[str]:
    """The values allowed in the Host header, without a port: the names of the server, and those of this computer."""
    names = (name.strip("[]").lower() for name in (settings.host, *settings.hosts))
    return [*(f"[{name}]" if ":" in name else name for name in names), "localhost", "127.0.0.1", "[::1]"]


class RequestChecks:
    """Middleware that rejects requests of other sites, large ones, and too many of one client, and adds the security
    headers.

    Redirects become relative, because a proxy may serve the page below a path that the server does not see.

    Args:
        hosts: the values allowed in the Host header, without a port. The check prevents pages of other sites from
            reaching the server by DNS rebinding.
        most: number of requests of one client that are answered at a time, files of the page not counted.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str], most: int) -> None:
        self.app, self.hosts = app, hosts
        self.limit = RequestLimit(most, f"{most} requests")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        received, has_begun = 0, False

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > MAX_BODY_BYTES:
                while message.get("more_body") and received < MOST_READ_BYTES:
                    message = await receive()
                    received += len(message.get("body", b""))
                raise HTTPException(413, f"the body is too large: at most {MAX_BODY_BYTES} bytes are allowed")
            return message

        async def with_headers(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                if "location" in headers:
                    headers["location"] = _relative(headers["location"], scope["path"])
            await send(message)

        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if (refused := self._refused(scope)) is not None:
            await refused(scope, receive, with_headers)
            return
        try:
            # The files of the page are served whatever else a client asks for.
            with self.limit.counted(client_of(scope)) if scope["path"].startswith("/api/") else nullcontext():
                await self.app(scope, counted, with_headers)
        except BusyError as error:
            # A connection that is kept would count against the limit for all clients.
            headers = {"Retry-After": str(error.retry_after), "Connection": "close"}
            await JSONResponse({"error": str(error)}, 503, headers)(scope, receive, with_headers)
        except asyncio.CancelledError:
            if has_begun:
                raise
            await JSONResponse({"error": "the server ends; start it again"}, 503)(scope, receive, with_headers)
        except (ClientDisconnect, LocalProtocolError):
            # The client has disconnected before the end of its request, or the body is not HTTP; nobody waits for an
            # answer.
            log.debug("a client has disconnected")

    def _refused(self, scope: Scope) -> JSONResponse | None:
        """The answer to a request that is not allowed; None if it is."""
        headers = Headers(scope=scope)
        if _head_bytes(scope) > MOST_HEAD_BYTES:
            sentence = f"the head of the request is too large: at most {MOST_HEAD_BYTES} bytes are allowed"
            return JSONResponse({"error": sentence}, 431)
        if _host_name(headers.get("host", "")) not in self.hosts:
            sentence = "the Host header is not allowed: the setting hosts= names further addresses of the page"
            return JSONResponse({"error": sentence}, 400)
        if _is_from_another_site(scope, headers):
            return JSONResponse({"error": "requests of other sites are not allowed: open the page of this server"}, 403)
        return None


def _host_name(header: str) -> str:
    """The value of a Host header without the port."""
    name, _, port = header.lower().rpartition(":")
    return name if name and port.isdigit() else header.lower()


def _head_bytes(scope: Scope) -> int:
    """The size of the target and the headers of a request."""
    headers = sum(len(name) + len(value) for name, value in scope["headers"])
    return len(scope["raw_path"]) + len(scope["query_string"]) + headers


def _is_from_another_site(scope: Scope, headers: Headers) -> bool:
    """Whether a browser sends the request for a page of another site, unless it follows a link to the page."""
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2] != headers.get("host"):
        return True
    if headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
        return False
    is_link = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return not (is_link and scope["method"] == "GET" and not scope["path"].startswith("/api/"))


def _relative(location: str, path: str) -> str:
    """The absolute address `location` of this server, relative to `path`."""
    target = urlsplit(location)
    parents = "../" * (path.count("/") - 1) or "./"
    return parents + target._replace(scheme="", netloc="", path=target.path.removeprefix("/")).geturl()
