"""One real Airflow with the page: a pipeline with batches, one whose Kafka is dead, two users."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from sluice.operations.reset.targets import named_target
from sluice.pipeline import find_pipeline

from local.embedded.ports import free_port
from tests.worlds.deployment import Deployment, deployed, kafka_connection
from tests.worlds.processes import JAVA_TUNING

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
# A viewer who may read the DAG of its own name only (worlds/rights.py).
CLERK = "orders"
# So many records of each batch are no JSON.
BAD = 3
# A viewer who may read no pipeline's DAG.
GUEST = "guest"
USERS = {
    "core": {
        "auth_manager": "tests.browser.worlds.rights.RightsByName",
        "simple_auth_manager_users": f"admin:admin,{CLERK}:viewer,{GUEST}:viewer",
    }
}


@dataclass(frozen=True)
class World:
    """The deployment of `orders`, which has read three batches, and of `dead`, which cannot."""

    orders: Deployment

    @property
    def url(self) -> str:
        return self.orders.airflow.url

    @property
    def page(self) -> str:
        return f"{self.url}/sluice"

    def token(self, user: str) -> str:
        """Sign in."""
        file = self.orders.airflow.folder / "passwords.json"
        login = {"username": user, "password": json.loads(file.read_text())[user]}
        reply = httpx.post(f"{self.url}/auth/token", json=login, trust_env=False, timeout=30)
        return str(reply.raise_for_status().json()["access_token"])

    def client(self, user: str | None) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.token(user)}"} if user else {}
        return httpx.Client(base_url=self.page, headers=headers, trust_env=False, timeout=30)


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    dead = {"bootstrap.servers": f"127.0.0.1:{free_port()}"}
    environment = {
        **JAVA_TUNING,
        # This checkout's page, wherever the virtual environment's own is.
        "PYTHONPATH": f"{ROOT / 'jobs'}{os.pathsep}{ROOT}",
        "AIRFLOW_CONN_KAFKA_DEAD": json.dumps({"conn_type": "kafka", "extra": dead}),
    }
    specs: dict[str, dict[str, object]] = {
        CLERK: {
            "description": "Orders of the shop",
            "alerts": {"max_silence": "PT1S"},
            "format": {"type": "json", "schema": "number BIGINT, note STRING"},
            "quarantine": {"max_ratio": 0.1},
        },
        "dead": {"kafka": "kafka_dead", "description": HOSTILE},
    }
    folder = tmp_path_factory.mktemp("airflow")
    with deployed(folder, specs, environment=environment, settings=USERS) as made:
        orders = made[CLERK]
        orders.unpause()
        (orders.specs / "broken.yaml").write_text("version: 2\n", encoding="utf-8")
        for records in (300, 120):
            orders.produce(records - BAD)
            orders.produce_malformed(BAD)
            orders.run()
        _reset(orders)
        orders.run()
        orders.produce(40)
        yield World(orders)


def _reset(orders: Deployment) -> None:
    """Go back by ten offsets in each partition, for a reason that browsers must not run."""
    pipeline = find_pipeline(
        CLERK,
        {
            "SLUICE_WAREHOUSE": str(orders.warehouse),
            "SLUICE_PIPELINES": str(orders.specs),
            "AIRFLOW_CONN_KAFKA_DEFAULT": kafka_connection(orders.broker),
        },
    )
    pipeline.reset(named_target("shift-by", "-10", [], False), HOSTILE, "by-hand", "cli:tester")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The machine's Chromium, else the one that Playwright installed. Root needs no sandbox."""
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=arguments
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def signed_in(world: World, chromium: Browser) -> Iterator[BrowserContext]:
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    cookie = {"name": "_token", "value": world.token("admin"), "url": world.url}
    context.add_cookies([cookie])  # type: ignore[list-item]
    yield context
    context.close()


@pytest.fixture
def tab(signed_in: BrowserContext) -> Iterator[Page]:
    page = signed_in.new_page()
    yield page
    page.close()
