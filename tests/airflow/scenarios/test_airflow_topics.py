"""A real Airflow gives new topics a DAG that runs: from a template to a plan, without a hand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from deltalake import DeltaTable

from local.embedded.topics import create_topic
from local.embedded.waiting import until
from tests.worlds.deployment import RUN_SECONDS, Deployment, deployed, write_spec
from tests.worlds.processes import JAVA_TUNING
from tests.worlds.records import numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.airflow]

FIND = "sluice_topics"
TEMPLATE = {"topics": None, "topic_pattern": r"orders\..*", "schedule": "* * * * *"}


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """A deployment with a template for topics that begin with `orders.`, and none of them yet."""
    folder = tmp_path_factory.mktemp("topics")
    with deployed(folder, {"orders": {}}, environment={**JAVA_TUNING}) as made:
        write_spec(made["orders"].specs / "all.yaml", "t_{topic}", **TEMPLATE)
        made["orders"].client.wait_for_dag(FIND)
        yield made["orders"]


def test_a_new_topic_gets_its_dag_which_plans_its_first_batch_without_a_hand(
    orders: Deployment,
) -> None:
    client, broker = orders.client, orders.broker
    assert create_topic(broker.bootstrap, "orders.eu", 1, {})
    produce(broker.bootstrap, "orders.eu", numbered(5))
    client.unpause(FIND)
    looks = until(lambda: client.runs(FIND), "a scheduled look", RUN_SECONDS)
    found = client.wait_for_run(looks[0], RUN_SECONDS)
    assert found.state == "success", client.log(found, "find")
    assert "all.yaml: new: topic orders.eu; a pipeline each" in client.log(found, "find")
    client.wait_for_dag("t_orders_eu")
    first = until(lambda: client.runs("t_orders_eu"), "a scheduled run", RUN_SECONDS)[0]
    until(
        lambda: orders.states(first).get("plan") == "success",
        "the plan of the topic's first run",
        RUN_SECONDS,
    )
    planned = DeltaTable(orders.warehouse / "t_orders_eu__offsets").to_pyarrow_table().to_pylist()
    assert [(e["topic"], e["start_offset"], e["end_offset"]) for e in planned] == [
        ("orders.eu", 0, 5)
    ]
