"""Checks of requests (address, Host header, origin and size), and the security headers of every response."""

import logging
from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger(__name__)

MAX_BODY_BYTES = 16_384
"""The largest size of a body; those that the page sends have a few hundred bytes."""

MAX_URL_BYTES = 2_048
"""The longest address of a request, with its query."""

HEADERS = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class RequestChecks:
    """Middleware that rejects unknown hosts, other sites and large requests, and adds the security headers.

    Args:
        hosts: the allowed values of the Host header, without a port. The check prevents pages of other sites from
            reaching the server by DNS rebinding.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        self.app, self.hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > MAX_BODY_BYTES:
                raise HTTPException(413, f"the body is too large: at most {MAX_BODY_BYTES} bytes are allowed")
            return message

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        if scope["type"] == "http" and (rejection := self._rejection(scope)) is not None:
            await rejection(scope, receive, with_headers)
            return
        try:
            await self.app(scope, counted, with_headers)
        except ClientDisconnect:
            # The client has left before it had sent its request; nobody waits for an answer.
            log.debug("a client has disconnected")

    def _rejection(self, scope: Scope) -> JSONResponse | None:
        headers = Headers(scope=scope)
        if not self._is_allowed_host(headers.get("host", "")):
            return _refusal(400, "unknown host: use the address that the server printed at its start")
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > MAX_URL_BYTES:
            return _refusal(414, f"the address is too long: at most {MAX_URL_BYTES} bytes are allowed")
        if _is_from_another_site(scope, headers):
            return _refusal(403, "requests of other sites are not allowed: open the page of this server")
        return None

    def _is_allowed_host(self, host: str) -> bool:
        # Without the port; an IPv6 address, which contains colons, is in brackets.
        name = host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]
        return name.lower() in self.hosts


def _refusal(code: int, sentence: str) -> JSONResponse:
    return JSONResponse({"error": sentence}, code)


def _is_from_another_site(scope: Scope, headers: Headers) -> bool:
    """Whether a browser sends the request for a page of another site, unless it follows a link to the page."""
    if headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
        return False
    is_link = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return not (is_link and scope["method"] == "GET" and not scope["path"].startswith("/api/"))
