"""The provider: what Airflow lists of Sluice beside its own providers."""

from __future__ import annotations

from typing import Any


def get_provider_info() -> dict[str, Any]:
    """The facts that `airflow providers` shows.

    No connection type is registered: `kafka`, `spark` and `aws` belong to other providers.
    """
    return {
        "package-name": "sluice",
        "name": "Sluice",
        "description": "Kafka topics into Delta Lake in exact batches.",
        "extra-links": [
            "sluice.scheduling.links.PipelineLink",
            "sluice.scheduling.links.BatchLink",
        ],
    }
