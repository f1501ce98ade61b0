"""The story of a run in a real browser: other runs beside it, smoothing, and the choice of levels."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.web.conftest import Server

pytestmark = pytest.mark.slow

STORY = "/#story/tictactoe"


@pytest.fixture(scope="module")
def other(server: Server) -> Iterator[Path]:
    """Another run of the same game, without its newest level and without a comparison."""
    run = server.service.catalog.run(server.service.catalog.game("tictactoe")).path
    path = Path(shutil.copytree(run, run.parent / "other"))
    shutil.rmtree(path / "level_03")
    shutil.rmtree(path / "comparison")
    yield path
    shutil.rmtree(path, ignore_errors=True)


def visit_story(page: Page, address: str = STORY) -> None:
    page.goto(address)
    expect(page.locator("#losses .line").first).to_be_visible()
    page.locator("#choices").evaluate("(node) => { node.open = true; }")


def legend(page: Page, chart: str) -> list[str]:
    return page.locator(f"{chart} .legend li").all_inner_texts()


def test_another_run_is_drawn_in_the_same_charts_with_a_legend_and_in_the_tables(page: Page, other: Path) -> None:
    visit_story(page)
    expect(page.locator("#loss-by-level .line")).to_have_count(1)
    box = page.get_by_role("checkbox", name=re.compile(r"^other\b"))
    box.focus()
    page.keyboard.press("Space")
    expect(page.locator("#loss-by-level .line")).to_have_count(2)
    assert legend(page, "#loss-by-level")[:2] == ["run", "other"]
    assert legend(page, "#losses") == [
        *("run: level 1", "run: level 2", "run: level 3"),
        *("other: level 1", "other: level 2"),
    ]
    # A run that was not compared is missing where there is nothing to draw.
    expect(page.locator("#ratings .line")).to_have_count(1)
    dashes = page.locator("#loss-by-level .line").evaluate_all(
        "(all) => all.map((one) => one.getAttribute('stroke-dasharray'))"
    )
    assert dashes[0] != dashes[1]
    rows = page.locator("#side-by-side tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_contain_text("other")
    page.locator("#loss-by-level summary").click()
    assert page.locator("#loss-by-level tbody tr").count() == 5
    # Exact values are those of every line, not a sample to be smoothed.
    page.locator("#smoothing").fill("2")
    expect(page.locator("#loss-by-level .series.smooth")).to_have_count(2)
    expect(page.locator("#exact .line")).not_to_have_count(0)
    expect(page.locator("#exact .smooth")).to_have_count(0)
    page.locator("#smoothing").fill("0")
    # The choice lives in the address, and in the visit; the charts stay in sight.
    page.reload()
    expect(page.locator("#loss-by-level .line")).to_have_count(2)
    expect(page.locator("#runs")).to_be_hidden()
    page.locator("#choices summary").click()
    expect(page.get_by_role("checkbox", name=re.compile(r"^other\b"))).to_be_checked()
    page.get_by_role("checkbox", name=re.compile(r"^other\b")).uncheck()
    expect(page.locator("#loss-by-level .line")).to_have_count(1)
    expect(page.locator("#side-by-side")).to_have_count(0)


def test_the_charts_stay_where_they_are_while_the_log_grows(page: Page) -> None:
    lines = 1

    def with_log(route: Route) -> None:
        answer = route.fetch(headers={**route.request.headers, "if-none-match": ""})
        story = answer.json()
        story["summary"] |= {"report": None, "log": [f"line {number}" for number in range(lines)]}
        route.fulfill(response=answer, json=story, headers={**answer.headers, "etag": f"{lines}"})

    page.route("**/story", with_log)
    visit_story(page)
    log, top = page.locator("#summary .log"), "(node) => node.getBoundingClientRect().top + scrollY"
    expect(log).to_have_text("line 0")
    before = page.locator("#losses").evaluate(top)
    lines = 8
    expect(log).to_contain_text("line 7")
    assert page.locator("#losses").evaluate(top) == before
    assert log.evaluate("(node) => node.scrollHeight - node.clientHeight") == 0


def with_losses(page: Page, levels: list[list[float]]) -> None:
    """Show the story with these validation losses: for each level, those of its epochs."""

    def change(route: Route) -> None:
        answer = route.fetch(headers={**route.request.headers, "if-none-match": ""})
        story = answer.json()
        story["losses"] = [
            story["losses"][0]
            | {
                "level": number + 1,
                "epochs": [{"epoch": epoch + 1, "training": loss, "judged": loss} for epoch, loss in enumerate(losses)],
            }
            for number, losses in enumerate(levels)
        ]
        route.fulfill(response=answer, json=story, headers={**answer.headers, "etag": "changed"})

    page.route("**/story", change)
    page.goto(STORY)
    expect(page.locator("#losses .dot").first).to_be_visible()


def test_levels_of_a_single_epoch_are_points_in_the_middle(page: Page) -> None:
    with_losses(page, [[0.4], [0.3], [0.25]])
    losses = page.locator("#losses")
    expect(losses.locator(".dot")).to_have_count(3)
    expect(losses.locator(".line")).to_have_count(0)
    expect(losses).to_contain_text("A point for each of 3 levels")
    box = losses.locator("svg.chart").bounding_box()
    dot = losses.locator(".dot").first.bounding_box()
    assert box is not None
    assert dot is not None
    assert abs(dot["x"] + dot["width"] / 2 - (box["x"] + box["width"] / 2)) < 0.05 * box["width"]


def test_levels_are_shown_against_random_matches_by_their_work(page: Page) -> None:
    names = "level", "simulations", "rollouts", "score", "score_low", "score_high", "work"
    numbers = (
        (1, 150, 1400, 0.1, 0.0, 0.2, 0),
        (2, 150, 1400, 0.6, 0.5, 0.7, 4e9),
        (3, 150, 1400, 0.6, None, None, None),
    )
    rows = [dict(zip(names, row, strict=True)) for row in numbers]

    def change(route: Route) -> None:
        answer = route.fetch(headers={**route.request.headers, "if-none-match": ""})
        changed = {**answer.json(), "rated": rows}
        route.fulfill(response=answer, json=changed, headers={**answer.headers, "etag": "changed"})

    page.route("**/story", change)
    page.goto(STORY)
    chart = page.locator("#versus-rollouts")
    # Level 3 is in a table of an earlier version, without its work.
    expect(chart.locator(".dot")).to_have_count(2)
    bars = chart.locator(".interval").evaluate_all(
        "(all) => all.map((one) => ['x1', 'y1', 'y2'].map((name) => Number(one.getAttribute(name))))"
    )
    assert bars[0][0] < bars[1][0]
    assert all(low > high for _, low, high in bars)
    assert bars[0][2] > bars[1][1]
    assert legend(page, "#versus-rollouts") == ["levels", "half of the points"]
    expect(chart.locator("tbody tr").nth(1)).to_have_text("260.0 %50.0 % to 70.0 %4")


def test_levels_can_be_told_apart_although_the_first_is_far_above_them(page: Page) -> None:
    with_losses(page, [[1.0, 0.9], [0.012, 0.01], [0.007, 0.005]])
    dots = page.locator("#losses .dot").evaluate_all("(all) => all.map((one) => Number(one.getAttribute('cy')))")
    assert dots == sorted(dots)
    assert dots[2] - dots[1] > 20
    expect(page.locator("#losses .chart > text").filter(has_text="0.01").first).to_be_visible()
    # Values that are close together stay on a scale from 0.
    page.unroute_all(behavior="ignoreErrors")
    with_losses(page, [[0.4, 0.3], [0.3, 0.2]])
    expect(page.locator("#losses .zero")).to_have_count(1)
