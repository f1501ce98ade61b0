"""Helpers for tests of the page in a browser."""

import re
from collections.abc import Callable, Iterable, Iterator
from time import monotonic

from playwright.sync_api import Page, expect

PATIENCE_MS = 120_000


def settled(page: Page, plies: int | None = None) -> None:
    """Wait until it is the person's turn, or the match is over."""
    busy = page.locator("body[data-busy=false]" + ("" if plies is None else f"[data-plies='{plies}']"))
    expect(busy).to_have_count(1)


def until(page: Page, is_so: Callable[[], bool]) -> None:
    """Wait for a condition that is not about elements of the page, while the page keeps running."""
    latest = monotonic() + PATIENCE_MS / 1000
    while not is_so():
        assert monotonic() < latest
        page.wait_for_timeout(10)


AGAINST_THE_NEWEST = "/#play/tictactoe?opponent=level-3&person=first"


def visit(page: Page, address: str = AGAINST_THE_NEWEST) -> None:
    page.goto(address)
    settled(page)


def in_windows(page: Page, sizes: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Width and height of windows; what is shown is in a window of this size meanwhile."""
    for width, height in sizes:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        yield width, height


def analyse(page: Page, values: str | None = None) -> None:
    """Choose the face of the page that shows values; `values`: the text of the choice of them."""
    page.get_by_role("tab", name="Analyse").click()
    if values is not None:
        page.get_by_text(values, exact=True).click()


def choose_game(page: Page, name: str) -> None:
    """Choose the game, and wait until its first match has begun."""
    page.get_by_label("Game").select_option(name)
    # The page handles the change a little later and shows the earlier match until then.
    expect(page.locator(f"#play[data-game={name}]")).to_have_count(1)
    settled(page, 0)


def choose(page: Page, opponent: str) -> None:
    """Choose the opponent with this text from the list."""
    with page.expect_response("**/api/match"):
        open_more(page)
        page.get_by_label("Kind of opponent").select_option(label=opponent)
    settled(page)


def open_more(page: Page) -> None:
    """Show the opponents and seats that a beginner does not need."""
    page.locator("#opponents").evaluate("(node) => { node.open = true; }")


def slide(page: Page, number: int) -> None:
    """Move the slider to the entry with this number, as its keys do."""
    page.locator("#number").evaluate(
        "(node, value) => { node.value = value; for (const kind of ['input', 'change'])"
        " node.dispatchEvent(new Event(kind, { bubbles: true })); }",
        number,
    )


def plies(page: Page) -> int:
    """The number of plies of the match on the page."""
    return int(page.locator("body").get_attribute("data-plies") or 0)


def play_out(page: Page, number: int = 0) -> list[str]:
    """Click the legal square or button with this number, or the last one, until the match is over.

    Returns the status after each click.
    """
    said = []
    legal = page.locator("#board .legal")
    while legal.count() > 0:
        before = plies(page)
        legal.nth(min(number, legal.count() - 1)).click()
        # The person's own ply must be shown before the next one is chosen.
        expect(page.locator(f"body[data-plies='{before}']")).to_have_count(0)
        settled(page)
        said.append(page.locator("#status").inner_text())
    return said


def expect_result(page: Page) -> None:
    """The match is over, and the status says so."""
    expect(page.locator("#status")).to_contain_text(re.compile(r"You win\.|You lose\.|A draw\."))


CONTRASTS = """(selector) => {
  const context = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d");
  const rgba = (colour) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (node) => {
    const colour = rgba(getComputedStyle(node).backgroundColor);
    return colour[3] > 200 ? colour : behind(node.parentElement);
  };
  // Curves have a stroke, texts a colour.
  const ink = (style) => (style.stroke === "none" ? style.color : style.stroke);
  return [...document.querySelectorAll(selector)].map((node) => {
    const [one, other] = [light(rgba(ink(getComputedStyle(node)))), light(behind(node))].sort((a, b) => b - a);
    return (one + 0.05) / (other + 0.05);
  });
}"""


def contrasts(page: Page, selector: str) -> list[float]:
    """The contrast of each of these texts or curves with what is behind it, from 1 to 21."""
    found: list[float] = page.evaluate(CONTRASTS, selector)
    return found
