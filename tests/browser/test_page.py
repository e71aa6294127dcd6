"""The page in Chromium: in Airflow's frame and alone, in light and dark, wide and narrow."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, expect

from tests.browser.conftest import CLERK, HOSTILE, World

pytestmark = [pytest.mark.integration, pytest.mark.airflow]

PICTURES = Path(__file__).resolve().parents[2] / "docs" / "screenshots"
PATIENCE_MS = 60_000


def picture(tab: Page, name: str) -> None:
    """Keep what is seen, if pictures are asked for: a test run leaves the tree as it is."""
    if os.environ.get("SLUICE_SCREENSHOTS"):
        PICTURES.mkdir(exist_ok=True)
        tab.screenshot(path=PICTURES / f"{name}.png")


def all_known(tab: Page, world: World) -> None:
    """The overview, once the dead connection is told of as well."""
    tab.goto(f"{world.page}/")
    expect(tab.locator("tr", has_text="dead").locator(".why")).to_contain_text(
        "127.0.0.1", timeout=PATIENCE_MS
    )


def history_known(tab: Page, world: World) -> None:
    tab.goto(f"{world.page}/pipelines/{CLERK}")
    expect(tab.get_by_text("Generation 2, cli:tester")).to_be_visible(timeout=PATIENCE_MS)


def test_the_overview_shows_the_worst_first_in_light_and_dark(tab: Page, world: World) -> None:
    for _ in range(20):
        all_known(tab, world)
        if "40" in tab.locator("tr", has_text=CLERK).locator("td").nth(2).inner_text():
            break
        tab.wait_for_timeout(1000)
    names = tab.locator("tbody th a").all_inner_texts()
    assert names == ["dead", CLERK]
    assert tab.locator("caption").inner_text().startswith("Pipelines, the worst first.")
    row = tab.locator("tbody tr").nth(1)
    assert row.locator("td").all_inner_texts()[:3] == ["420", "460", "40"]
    expect(row.locator(".breach")).to_contain_text("alerts.max_silence")
    grounds = []
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        grounds.append(tab.evaluate("getComputedStyle(document.body).backgroundColor"))
        picture(tab, f"overview-{scheme}")
    assert len(set(grounds)) == 2
    tab.get_by_role("link", name="fresh 1").click()
    assert tab.locator("tbody th a").all_inner_texts() == [CLERK]
    assert tab.locator("caption").inner_text().startswith("Pipelines that are fresh")


def test_it_fits_a_narrow_screen(tab: Page, world: World) -> None:
    tab.set_viewport_size({"width": 375, "height": 800})
    for path in ("/", f"/pipelines/{CLERK}", f"/pipelines/{CLERK}/batches/forward-1-1"):
        tab.goto(world.page + path)
        expect(tab.locator("h1")).to_be_visible()
        assert tab.evaluate("document.documentElement.scrollWidth") <= 375, path
    all_known(tab, world)
    picture(tab, "overview-375")


def test_a_pipeline_and_a_batch_by_keyboard(tab: Page, world: World) -> None:
    history_known(tab, world)
    picture(tab, "pipeline")
    labels = [each.get_attribute("aria-label") for each in tab.locator("svg").all()]
    assert [re.sub(" of .*", "", each or "") for each in labels] == [
        "Records",
        "Duration",
        "Lag left when planned",
    ]
    assert tab.locator("table").count() == tab.locator("table caption").count() == 3
    link = tab.get_by_role("link", name="forward-1-2")
    link.focus()
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("heading", level=1)).to_have_text(f"{CLERK}: forward-1-2")
    expect(tab.locator("dd", has_text="120 records")).to_be_visible(timeout=PATIENCE_MS)
    picture(tab, "batch")
    log = tab.get_by_role("link", name="ingest", exact=True).get_attribute("href") or ""
    assert re.fullmatch(rf"/dags/{CLERK}/runs/[^/]+/tasks/ingest", log)
    tab.get_by_role("link", name=f"Back to {CLERK}").click()
    expect(tab).to_have_url(f"{world.page}/pipelines/{CLERK}")


def test_no_text_becomes_code_and_the_policy_has_nothing_to_refuse(tab: Page, world: World) -> None:
    told: list[str] = []

    def note(message: ConsoleMessage) -> None:
        told.append(message.text)

    tab.on("console", note)
    history_known(tab, world)
    assert tab.title() == f"{CLERK} · Kafka offsets"
    expect(tab.get_by_text(HOSTILE).first).to_be_visible()
    assert tab.locator("main script, main img").count() == 0
    assert told == []


def test_the_json_for_the_form_is_copied(
    tab: Page, world: World, signed_in: BrowserContext
) -> None:
    signed_in.grant_permissions(["clipboard-read", "clipboard-write"], origin=world.url)
    tab.goto(f"{world.page}/pipelines/{CLERK}/batches/forward-1-1")
    tab.get_by_role("button", name="Copy the JSON").first.click(timeout=PATIENCE_MS)
    expect(tab.get_by_role("button", name="Copied")).to_be_visible()
    copied = tab.evaluate("navigator.clipboard.readText()")
    assert '"reprocess_batches"' in copied
    assert '"forward-1-1"' in copied


def test_in_airflows_frame_a_link_to_a_dag_moves_airflow(tab: Page, world: World) -> None:
    tab.goto(f"{world.url}/plugin/kafka-offsets")
    frame = tab.frame_locator("iframe")
    frame.get_by_role("link", name=CLERK).first.click(timeout=PATIENCE_MS)
    frame.get_by_role("link", name="its DAG in Airflow").click(timeout=PATIENCE_MS)
    expect(tab).to_have_url(f"{world.url}/dags/{CLERK}", timeout=PATIENCE_MS)


def test_on_a_dag_the_page_of_its_pipeline_is_one_click_away(tab: Page, world: World) -> None:
    tab.goto(f"{world.url}/dags/{CLERK}")
    tab.get_by_role("link", name="Kafka offsets").last.click(timeout=PATIENCE_MS)
    heading = tab.frame_locator("iframe").get_by_role("heading", level=1)
    expect(heading).to_contain_text(CLERK, timeout=PATIENCE_MS)


def test_outside_the_frame_it_is_a_plain_link(tab: Page, world: World) -> None:
    tab.goto(f"{world.page}/pipelines/{CLERK}")
    tab.get_by_role("link", name="its DAG in Airflow").click()
    expect(tab).to_have_url(f"{world.url}/dags/{CLERK}", timeout=PATIENCE_MS)
