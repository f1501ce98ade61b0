"""The page behind a proxy that serves it below a path, and removes the path from what it passes on."""

import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Browser, expect

from tests.web.browser.browsing import PATIENCE_MS, choose_game, settled, visit
from tests.web.conftest import ADDRESS, Server

PREFIX = "/games"


@pytest.fixture
def below_a_path(server: Server) -> Iterator[str]:
    """The address of the page behind the proxy, which knows no other path."""

    class Proxy(BaseHTTPRequestHandler):
        def pass_on(self) -> None:
            if not self.path.startswith(f"{PREFIX}/"):
                self.send_error(404)
                return
            behind = HTTPConnection("127.0.0.1", server.port)
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            behind.request(self.command, self.path.removeprefix(PREFIX), body, dict(self.headers))
            response = behind.getresponse()
            content = response.read()
            behind.close()
            self.send_response_only(response.status)
            for name, value in response.getheaders():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = pass_on  # noqa: N815

        def log_message(self, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as proxy:
        thread = threading.Thread(target=proxy.serve_forever)
        thread.start()
        yield f"{ADDRESS}:{proxy.server_port}{PREFIX}/"
        proxy.shutdown()
        thread.join()


@pytest.mark.slow
def test_the_page_its_matches_and_the_description_of_the_api_are_used_below_a_path(
    browser: Browser, below_a_path: str
) -> None:
    context = browser.new_context()
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    failed: list[str] = []
    page.on("response", lambda response: failed.append(response.url) if response.status >= 400 else None)
    visit(page, f"{below_a_path}#play")
    choose_game(page, "tictactoe")
    page.locator("[data-square='4']").click()
    settled(page, 2)
    page.get_by_role("link", name="Story").click()
    expect(page.locator("#charts figure").first).to_be_visible()
    page.get_by_role("link", name="API of the server").click()
    expect(page.get_by_role("heading", name="POST /api/match", exact=True)).to_be_visible()
    # The server redirects to the address without the slash.
    page.goto(f"{below_a_path}docs/")
    assert page.url == f"{below_a_path}docs"
    assert page.request.get(page.get_by_role("link", name="openapi.json").evaluate("(link) => link.href")).ok
    page.get_by_role("link", name="Play", exact=True).click()
    settled(page)
    assert page.url.startswith(f"{below_a_path}#")
    assert failed == []
    context.close()
