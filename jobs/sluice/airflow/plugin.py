"""The one Airflow plugin: the priority strategy, the writer of run notes, the page."""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Iterator
from typing import Any

from airflow.plugins_manager import AirflowPlugin

from sluice.scheduling import run_notes
from sluice.scheduling.links import web_links
from sluice.scheduling.priority import FreshFirst

log = logging.getLogger(__name__)

PAGE = "sluice.scheduling.page.app"


class KafkaOffsets:
    """The page as an ASGI app."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        page = await asyncio.to_thread(importlib.import_module, PAGE)
        await page.app(scope, receive, send)


class Apps:
    """The apps, which only api-servers ask for: they import the page at their start.

    Tasks load the plugin as well, and do without it.
    """

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The page; if it cannot be imported, Airflow goes on, and the page tells."""
        try:
            importlib.import_module(PAGE)
        except Exception:
            log.exception("The page Kafka offsets cannot be imported")
        yield {"app": KafkaOffsets(), "url_prefix": "/sluice", "name": "Kafka offsets"}


class SluicePlugin(AirflowPlugin):
    """Registers what schedulers load, strategy and notes, and what api-servers do: the page."""

    name = "sluice"
    priority_weight_strategies = [FreshFirst]  # noqa: RUF012 - Airflow's own attribute
    listeners = [run_notes]  # noqa: RUF012
    fastapi_apps = Apps()
    external_views = [  # noqa: RUF012
        {
            "name": "Kafka offsets",
            "href": web_links().overview,
            "destination": "nav",
            "category": "browse",
            "url_route": "kafka-offsets",
        },
        {
            "name": "Kafka offsets",
            "href": f"{web_links().overview}pipelines/{{DAG_ID}}",
            "destination": "dag",
            "url_route": "kafka-offsets-of-dag",
        },
    ]
