"""Who may look at the page: nobody else gets any of it, and looking changes nothing."""

from __future__ import annotations

import json
from urllib.parse import quote

import httpx
import pytest

from local.embedded.waiting import until
from tests.browser.conftest import CLERK, GUEST, HOSTILE, World

pytestmark = [pytest.mark.integration, pytest.mark.airflow]

ROUTES = (
    "/",
    "/pipelines/orders",
    "/pipelines/orders/outlook",
    "/pipelines/orders/batches/forward-1-1",
    "/handbook/operations",
    "/static/page.css",
    "/static/page.js",
    "/static/theme.js",
)
ELSEWHERE = (
    "/pipelines/nothing",
    "/handbook/nothing",
    "/openapi.json",
    "/docs",
    "/no/such/route",
    "/static/../app.py",
)
ESCAPED = "&lt;script&gt;document.title=&#39;owned&#39;&lt;/script&gt;"
STRICT = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self';"
    " img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}


def strict(reply: httpx.Response) -> bool:
    return {name: reply.headers.get(name) for name in STRICT} == STRICT


@pytest.mark.parametrize("route", [*ROUTES, *ELSEWHERE])
def test_a_stranger_gets_nothing_wherever_they_ask(world: World, route: str) -> None:
    with world.client(None) as stranger:
        replies = [stranger.request(method, route) for method in ("GET", "HEAD", "POST", "DELETE")]
        stranger.headers["Authorization"] = "Bearer no.such.token"
        replies.append(stranger.get(route))
        stranger.headers.pop("Authorization")
        stranger.cookies.set("_token", world.token("admin")[:-4] + "AAAA")
        replies.append(stranger.get(route))
    assert {reply.status_code for reply in replies} == {401}
    assert all(map(strict, replies))
    # Only the link to the login repeats what was asked.
    for reply in replies:
        wanted = quote(reply.request.url.path, safe="")
        assert not reply.text or f"/api/v2/auth/login?next={wanted}" in reply.text
        assert "orders" not in reply.text.replace(wanted, "")


@pytest.mark.parametrize("route", ROUTES)
def test_every_route_answers_get_and_nothing_else(world: World, route: str) -> None:
    with world.client("admin") as admin:
        found = admin.get(route)
        others = [admin.request(method, route) for method in ("HEAD", "POST", "PUT", "DELETE")]
    assert (found.status_code, {reply.status_code for reply in others}) == (200, {405})
    assert all(map(strict, [found, *others]))


def test_a_role_sees_the_pipelines_whose_dag_it_may_read(world: World) -> None:
    with world.client(CLERK) as clerk, world.client("admin") as admin:
        theirs, whole = clerk.get("/"), admin.get("/")
        refused = [
            clerk.get(f"/pipelines/{route}")
            for route in ("dead", "dead/outlook", "dead/batches/forward-1-1", "nothing")
        ]
        assert clerk.get("/pipelines/orders").status_code == 200
        assert admin.get("/pipelines/nothing").status_code == 404
        assert admin.get("/pipelines/orders/batches/forward-9-9").status_code == 404
        assert admin.get("/pipelines/orders/batches/none").status_code == 404
    assert "/sluice/pipelines/dead" in whole.text
    assert "/sluice/pipelines/orders" in theirs.text
    assert "dead" not in theirs.text
    assert {reply.status_code for reply in refused} == {403}
    assert all(map(strict, refused))


def test_who_may_read_no_pipeline_is_refused(world: World) -> None:
    with world.client(GUEST) as guest:
        reply = guest.get("/")
        assert guest.get("/pipelines/orders").status_code == 403
    assert reply.status_code == 403
    assert "may read no pipeline" in reply.text
    assert strict(reply)


def test_a_state_that_is_none_is_not_found(world: World) -> None:
    with world.client("admin") as admin:
        assert admin.get("/?state=fresh").status_code == 200
        reply = admin.get("/?state=frehs")
        sorted_so = admin.get("/?sort=owner")
    assert (reply.status_code, sorted_so.status_code) == (404, 404)
    assert "stopped, unknown, behind, fresh" in reply.text


def test_a_spec_that_is_refused_is_counted(world: World) -> None:
    with world.client("admin") as admin:
        assert "so that their pipelines do not run: 1." in admin.get("/").text


def test_looking_changes_nothing(world: World) -> None:
    tables = sorted(each for each in world.orders.warehouse.rglob("*") if each.is_file())
    with world.client("admin") as admin:
        for route in ROUTES:
            assert admin.get(route).status_code == 200
    assert tables == sorted(each for each in world.orders.warehouse.rglob("*") if each.is_file())


def test_what_comes_from_outside_is_text(world: World) -> None:
    with world.client("admin") as admin:

        def page() -> str:
            found = admin.get("/pipelines/orders").text
            return found if "Generation 2" in found else ""

        text = until(page, "the history is read", 30)
    assert "<script>document" not in text
    assert "<img" not in text
    assert text.count(ESCAPED) == 1, HOSTILE


def test_a_dead_kafka_is_told_beside_what_is_known(world: World) -> None:
    with world.client("admin") as admin:
        told = until(
            lambda: text if "127.0.0.1" in (text := admin.get("/pipelines/dead").text) else None,
            "the dead connection is told",
            90,
        )
        assert "unknown" in told
        assert told.count(ESCAPED) == 1, "its description"
        assert "<script>document" not in told
        assert admin.get("/pipelines/orders").status_code == 200


def test_airflow_offers_the_page_in_its_navigation_and_on_a_dag(world: World) -> None:
    (ours,) = (
        each
        for each in world.orders.client.request("GET", "/plugins")["plugins"]
        if each["name"] == "sluice"
    )
    views = {each["destination"]: each["href"] for each in ours["external_views"]}
    assert views == {"nav": "/sluice/", "dag": "/sluice/pipelines/{DAG_ID}"}
    assert json.dumps(ours["fastapi_apps"]).count("/sluice") == 1
