"""The one Airflow plugin: the priority strategy, the writer of run notes, the page."""

from __future__ import annotations

import asyncio
import importlib
from typing import Any

from airflow.plugins_manager import AirflowPlugin
from sluice.scheduling import run_notes
from sluice.scheduling.links import web_links
from sluice.scheduling.priority import FreshFirst


class KafkaOffsets:
    """The page as an ASGI app, imported when it is first asked: tasks load the plugin as well."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        page = await asyncio.to_thread(importlib.import_module, "sluice.scheduling.page.app")
        await page.app(scope, receive, send)


class SluicePlugin(AirflowPlugin):
    """Registers what schedulers load, strategy and notes, and what api-servers do: the page."""

    name = "sluice"
    priority_weight_strategies = [FreshFirst]  # noqa: RUF012 - Airflow's own attribute
    listeners = [run_notes]  # noqa: RUF012
    fastapi_apps = [  # noqa: RUF012
        {"app": KafkaOffsets(), "url_prefix": "/sluice", "name": "Kafka offsets"}
    ]
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
