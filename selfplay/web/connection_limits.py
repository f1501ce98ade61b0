"""Connections with limits, so that one slow or hostile client does not hold up the others."""

import asyncio
import ipaddress

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEAD_BYTES = 16_384
"""The largest size of a request line with its headers."""
MAX_REQUEST_BYTES = 131_072
"""The largest size of a whole request, with the overhead of a body that is sent in chunks."""
MAX_PIPELINED_REQUESTS = 16
"""Requests that a client may send before the first of them is answered."""
MAX_CONNECTIONS = 400
MAX_CLIENT_CONNECTIONS = 100
REQUEST_SECONDS = 10.0
"""Time in which a client must send a request, from its first byte or from the beginning of the connection."""
ANSWER_SECONDS = 10.0
"""Time in which a client must read what fills the buffer of an answer."""

REASONS = {408: "Request Timeout", 431: "Request Header Fields Too Large", 503: "Service Unavailable"}


def client_of(address: str | None) -> str:
    """The client that an address belongs to: the address itself, or the network of 64 bits of an IPv6 address."""
    try:
        parsed = ipaddress.ip_address((address or "").partition("%")[0])
    except ValueError:
        return address or ""
    if parsed.version == 4 or parsed.is_loopback:
        return str(parsed)
    return str(ipaddress.ip_network((parsed, 64), strict=False))


class LimitedConnection(HttpToolsProtocol):
    """A connection that is closed when its client exceeds a limit of size, time or number of connections.

    Without these limits the server holds all headers that a client sends, and waits for the rest of a request forever.
    """

    _client = ""
    _request_timer: asyncio.TimerHandle | None = None
    _answer_timer: asyncio.TimerHandle | None = None
    _received = 0
    """Bytes of the request that is being received."""
    _is_in_head = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._client = client_of(self.client[0] if self.client else None)
        own = sum(getattr(one, "_client", None) == self._client for one in self.connections)
        if len(self.connections) > MAX_CONNECTIONS or own > MAX_CLIENT_CONNECTIONS:
            self._refuse(503)
        else:
            self._start_request_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_request_timer()
        self._stop_answer_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        # In parts, so that a limit that is exceeded is noticed before the rest is parsed.
        for start in range(0, len(data), MAX_HEAD_BYTES):
            if self.transport.is_closing():
                return
            part = data[start : start + MAX_HEAD_BYTES]
            self._received += len(part)
            super().data_received(part)
            self._check_size()
        if self._received and self._request_timer is None and not self.transport.is_closing():
            self._start_request_timer()

    def _check_size(self) -> None:
        if self._received > (MAX_HEAD_BYTES if self._is_in_head else MAX_REQUEST_BYTES):
            self._refuse(431 if self._is_in_head else None)
        elif len(self.pipeline) > MAX_PIPELINED_REQUESTS:
            self._refuse(None)

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._is_in_head, self._received = True, 0
        self._stop_request_timer()
        super().on_message_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stop_answer_timer()
        self._answer_timer = self.loop.call_later(ANSWER_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        self._stop_answer_timer()
        super().resume_writing()

    def _refuse(self, status: int | None) -> None:
        """Close the connection, after an answer with this status unless another answer is under way."""
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if status is None or is_answering or self.transport.is_closing():
            self.transport.abort()
            return
        head = f"HTTP/1.1 {status} {REASONS[status]}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
        self.transport.write(head.encode())
        self.transport.close()

    def _time_out(self) -> None:
        # Browsers open connections that they may not use; these are closed without an answer.
        self._refuse(408 if self._received else None)

    def _start_request_timer(self) -> None:
        self._request_timer = self.loop.call_later(REQUEST_SECONDS, self._time_out)

    def _stop_request_timer(self) -> None:
        if self._request_timer is not None:
            self._request_timer.cancel()
            self._request_timer = None

    def _stop_answer_timer(self) -> None:
        if self._answer_timer is not None:
            self._answer_timer.cancel()
            self._answer_timer = None
