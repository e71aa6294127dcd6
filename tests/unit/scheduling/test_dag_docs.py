"""What a DAG's docs name of docs/ is a link to the handbook, below Airflow's own path."""

from __future__ import annotations

import pytest
from sluice.scheduling.dag_docs import with_links
from sluice.scheduling.page.links import Links


@pytest.mark.parametrize(
    ("text", "linked"),
    [
        (
            "see `docs/operations.md#call-a-person`",
            "see [call a person](B/operations#call-a-person)",
        ),
        ("`#look`, `#reset-it`", "[look](B/operations#look), [reset it](B/operations#reset-it)"),
        ("metrics\n(docs/metrics.md), then", "metrics\n([docs/metrics.md](B/metrics)), then"),
        ("`flights` and `a#b`", "`flights` and `a#b`"),
    ],
)
def test_a_name_becomes_a_link(text: str, linked: str) -> None:
    assert with_links(text, Links("/airflow")) == linked.replace("B", "/airflow/sluice/handbook")
