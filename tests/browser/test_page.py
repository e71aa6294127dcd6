"""The page in Chromium: in Airflow's frame and alone, in light and dark, wide and narrow."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    expect,
)

from tests.browser.conftest import CLERK, HOSTILE, World

pytestmark = [pytest.mark.integration, pytest.mark.airflow]

PICTURES = Path(__file__).resolve().parents[2] / "docs" / "screenshots"
PATIENCE_MS = 60_000
# The ground of the page in both modes.
LIGHT, DARK = "rgb(255, 255, 255)", "rgb(20, 24, 29)"


def picture(tab: Page, name: str) -> None:
    """Keep what is seen, if pictures are asked for: a test run leaves the tree as it is."""
    if os.environ.get("SLUICE_SCREENSHOTS"):
        PICTURES.mkdir(exist_ok=True)
        tab.screenshot(path=PICTURES / f"{name}.png")


def all_known(tab: Page, world: World) -> None:
    """The overview, once the dead connection is told of as well."""
    tab.goto(f"{world.page}/")
    expect(tab.locator("tr.told .why").first).to_contain_text("127.0.0.1", timeout=PATIENCE_MS)


def row_of(tab: Page, pipeline: str) -> Locator:
    """The pipeline's row of the list; what is told of it is in the row below."""
    return tab.locator("tbody tr", has=tab.get_by_role("link", name=pipeline, exact=True))


def cell(tab: Page, pipeline: str, column: str) -> Locator:
    return row_of(tab, pipeline).locator(f"td[data-label='{column}']")


def history_known(tab: Page, world: World) -> None:
    tab.goto(f"{world.page}/pipelines/{CLERK}")
    expect(tab.get_by_text("Generation 2, cli:tester")).to_be_visible(timeout=PATIENCE_MS)


def test_the_overview_shows_the_worst_first_in_light_and_dark(tab: Page, world: World) -> None:
    for _ in range(20):
        all_known(tab, world)
        if "40" in cell(tab, CLERK, "Lag").inner_text():
            break
        tab.wait_for_timeout(1000)
    assert names(tab) == ["dead", CLERK]
    assert tab.locator("caption").inner_text().startswith("Pipelines, the worst first.")
    told = [cell(tab, CLERK, each).inner_text() for each in ("Cursor", "LSO", "Lag", "Schedule")]
    assert told == ["420", "460", "40", "manual"]
    expect(tab.locator("tr.told .breach")).to_contain_text("alerts.max_silence")
    expect(row_of(tab, "dead").get_by_role("link", name="paused")).to_be_visible()
    assert cell(tab, "dead", "Last batch").inner_text() == "never ran"
    expect(cell(tab, CLERK, "Lag over time").get_by_role("img")).to_have_attribute(
        "aria-label", re.compile(f"{CLERK}: Lag over time: at most "), timeout=PATIENCE_MS
    )
    grounds = []
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        grounds.append(tab.evaluate("getComputedStyle(document.body).backgroundColor"))
        picture(tab, f"overview-{scheme}")
    assert len(set(grounds)) == 2
    tab.get_by_role("link", name="fresh 1").click()
    expect(tab.locator("caption")).to_contain_text("Pipelines that are fresh")
    assert names(tab) == [CLERK]


def names(tab: Page) -> list[str]:
    """The pipelines that the list shows, in its order."""
    found = tab.locator("tbody th > a:first-child").all_inner_texts()
    return [str(each) for each in found]


def test_the_list_is_filtered_and_sorted_without_a_script(world: World, chromium: Browser) -> None:
    context = chromium.new_context(java_script_enabled=False)
    cookie = {"name": "_token", "value": world.token("admin"), "url": world.url}
    context.add_cookies([cookie])  # type: ignore[list-item]
    tab = context.new_page()
    tab.goto(f"{world.page}/")
    tab.get_by_label("Name contains").fill("DEA")
    tab.get_by_role("button", name="Show").click()
    expect(tab).to_have_url(re.compile(r"/sluice/\?name=DEA&sort="))
    assert names(tab) == ["dead"]
    tab.get_by_role("link", name="Show all again").click()
    tab.get_by_role("columnheader", name="Pipeline").get_by_role("link").click()
    expect(tab.locator("th[aria-sort]")).to_have_attribute("aria-sort", "ascending")
    tab.get_by_role("columnheader", name="Pipeline").get_by_role("link").click()
    expect(tab.locator("th[aria-sort]")).to_have_attribute("aria-sort", "descending")
    assert names(tab) == [CLERK, "dead"]
    context.close()


def test_it_fits_a_narrow_screen(tab: Page, world: World) -> None:
    tab.set_viewport_size({"width": 375, "height": 800})
    for path in ("/", f"/pipelines/{CLERK}", f"/pipelines/{CLERK}/batches/forward-1-1"):
        tab.goto(world.page + path)
        expect(tab.locator("h1")).to_be_visible()
        assert tab.evaluate("document.documentElement.scrollWidth") <= 375, path
    all_known(tab, world)
    picture(tab, "overview-375")


def test_a_pipeline_and_a_batch_by_keyboard(tab: Page, world: World) -> None:
    tab.set_viewport_size({"width": 1280, "height": 1640})
    history_known(tab, world)
    picture(tab, "pipeline")
    tab.set_viewport_size({"width": 1280, "height": 800})
    pictures = tab.locator("svg[role='img']")
    labels = [each.get_attribute("aria-label") or "" for each in pictures.all()]
    assert [re.sub("( of |, |: |; ).*", "", each) for each in labels] == [
        "Lag over time",
        "3 batches",
        *("Offsets in per second", "Records out per second", "Share in quarantine"),
        *(f"{CLERK}[{each}]" for each in range(2)),
        *("Records", "Duration"),
    ]
    assert tab.get_by_text("Waiting for a decision: 6 records.").is_visible()
    assert tab.locator("table").count() == tab.locator("table caption").count() == 3
    link = tab.get_by_role("link", name="forward-1-2")
    link.focus()
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("heading", level=1)).to_have_text(f"{CLERK}: forward-1-2")
    expect(tab.locator("dd", has_text="117 records, 3 quarantined")).to_be_visible(
        timeout=PATIENCE_MS
    )
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


def test_in_airflows_frame_it_follows_airflows_own_mode(tab: Page, world: World) -> None:
    tab.emulate_media(color_scheme="light")
    tab.goto(f"{world.url}/plugin/kafka-offsets")
    inner = tab.frame_locator("iframe").locator("body")
    expect(inner).to_have_css("background-color", LIGHT, timeout=PATIENCE_MS)
    # While it is open, as Airflow's own switch does; a system's event for the frame.
    tab.evaluate("localStorage.setItem('theme', 'dark')")
    expect(inner).to_have_css("background-color", DARK)
    tab.reload()
    expect(inner).to_have_css("background-color", DARK, timeout=PATIENCE_MS)
    tab.evaluate("localStorage.setItem('theme', 'system')")
    expect(inner).to_have_css("background-color", LIGHT)
    tab.emulate_media(color_scheme="dark")
    expect(inner).to_have_css("background-color", DARK)
    tab.evaluate("localStorage.setItem('theme', 'light')")
    expect(inner).to_have_css("background-color", LIGHT)
    tab.evaluate("localStorage.removeItem('theme')")


def test_on_a_dag_the_page_of_its_pipeline_is_one_click_away(tab: Page, world: World) -> None:
    tab.goto(f"{world.url}/dags/{CLERK}")
    tab.get_by_role("link", name="Kafka offsets").last.click(timeout=PATIENCE_MS)
    heading = tab.frame_locator("iframe").get_by_role("heading", level=1)
    expect(heading).to_contain_text(CLERK, timeout=PATIENCE_MS)


def test_a_stranger_signs_in_and_is_where_they_wanted_to_be(
    world: World, chromium: Browser
) -> None:
    context = chromium.new_context()
    tab = context.new_page()
    tab.goto(f"{world.page}/pipelines/{CLERK}?x=1")
    tab.get_by_role("link", name="Sign in").click()
    tab.get_by_placeholder("Username").or_(tab.locator("input[name='username']")).first.fill(
        "admin", timeout=PATIENCE_MS
    )
    file = world.orders.airflow.folder / "passwords.json"
    tab.locator("input[type='password']").fill(json.loads(file.read_text())["admin"])
    tab.keyboard.press("Enter")
    expect(tab).to_have_url(f"{world.page}/pipelines/{CLERK}?x=1", timeout=PATIENCE_MS)
    context.close()


def test_the_docs_of_a_dag_lead_to_the_recipe(tab: Page, world: World) -> None:
    docs = world.orders.client.request("GET", f"/dags/{CLERK}/details")["doc_md"]
    found = re.search(r"\[read again from the trigger form\]\(([^)]+)\)", docs)
    assert found, docs
    tab.goto(f"{world.url}{found[1]}")
    heading = tab.get_by_role("heading", name="Read again from the trigger form", exact=True)
    expect(heading).to_be_in_viewport()


def test_outside_the_frame_it_is_a_plain_link(tab: Page, world: World) -> None:
    tab.goto(f"{world.page}/pipelines/{CLERK}")
    tab.get_by_role("link", name="its DAG in Airflow").click()
    expect(tab).to_have_url(f"{world.url}/dags/{CLERK}", timeout=PATIENCE_MS)
