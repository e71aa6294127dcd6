"""A real Airflow is watched: who is called, what StatsD is told, and the lineage of an ingest.

One Airflow with the policy of docs/deployment.md, a mail server, a StatsD port, and a file of
OpenLineage events. The tests build on each other, in this order.
"""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from local.embedded.airflow_client import DagRun
from local.embedded.waiting import until
from tests.worlds.deployment import RUN_SECONDS, Deployment, deployed
from tests.worlds.mailbox import Mailbox
from tests.worlds.monitoring import dashboard_names, mapped, received, rule_names
from tests.worlds.processes import JAVA_TUNING

pytestmark = [pytest.mark.integration, pytest.mark.airflow]

DOCS = Path(__file__).parents[3] / "docs"
WATCH = "sluice_watch"
BREACH = (
    "quiet: alerts.max_silence: expected a batch within 2:00:00, found none; the oldest unread"
    " record is 3:"
)


@dataclass
class Watched:
    """The pipeline `quiet`, which has limits; `calm` has none. What is told of them."""

    quiet: Deployment
    mailbox: Mailbox
    statsd: socket.socket
    events: Path

    def look(self) -> DagRun:
        """A run of the watch, once it has ended."""
        return self.quiet.client.wait_for_run(self.quiet.client.trigger(WATCH), RUN_SECONDS)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("watched")
    page = (DOCS / "deployment.md").read_text(encoding="utf-8")
    (policies,) = re.findall(r"^```python\n(def .+?)^```", page, re.MULTILINE | re.DOTALL)
    events = folder / "lineage.jsonl"
    transport = {"type": "file", "log_file_path": str(events), "append": True}
    with Mailbox() as mailbox, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as statsd:
        statsd.bind(("127.0.0.1", 0))
        settings = {
            "metrics": {
                "statsd_on": "True",
                "statsd_host": "127.0.0.1",
                "statsd_port": str(statsd.getsockname()[1]),
                "metrics_allow_list": r"^sluice\.",
            },
            "openlineage": {"transport": json.dumps(transport)},
        }
        environment = {**JAVA_TUNING, "AIRFLOW_CONN_SMTP_DEFAULT": mailbox.connection}
        specs = {"quiet": {"alerts": {"max_silence": "PT2H"}}, "calm": {}}
        with deployed(
            folder, specs, settings=settings, policies=policies, environment=environment
        ) as made:
            client = made["quiet"].client
            client.wait_for_dag(WATCH)
            made["quiet"].unpause()
            yield Watched(made["quiet"], mailbox, statsd, events)


def test_an_exceeded_limit_fails_the_watch_and_calls_who_is_to_be_called(watched: Watched) -> None:
    client = watched.quiet.client
    watched.quiet.produce(1, [int((time.time() - 3 * 3600) * 1000)])
    client.unpause(WATCH)
    run = until(lambda: client.runs(WATCH), "a scheduled run", RUN_SECONDS)[0]
    assert run.run_id.startswith("scheduled")
    assert client.wait_for_run(run, RUN_SECONDS).state == "failed"
    task = client.tasks(run)["watch"]
    assert (task.state, task.try_number) == ("failed", 1)
    assert BREACH in client.log(run, "watch")
    mail = until(lambda: watched.mailbox.mails, "a mail", RUN_SECONDS)[0]
    assert (mail["To"], mail["Subject"]) == ("on-call@example.com", "Sluice: a limit is exceeded")
    body = mail.get_body()
    assert body is not None
    assert f"<pre>{BREACH}" in body.get_content()


def test_when_the_limits_are_kept_again_nothing_has_to_be_cleared(watched: Watched) -> None:
    watched.quiet.produce(9)
    watched.quiet.run()
    watched.quiet.assert_exact()
    watched.quiet.produce(3)
    assert watched.look().state == "success"


def test_statsd_is_told_every_metric_of_the_page_and_all_that_rules_and_dashboard_name(
    watched: Watched,
) -> None:
    told = received(watched.statsd)
    values = {}
    for datagram in told:
        found = mapped(datagram)
        assert found, datagram
        name, labels = found
        values[name, *sorted(labels.items())] = float(re.findall(r":([^|]+)\|", datagram)[0])
    quiet = ("pipeline", "quiet")
    assert values["sluice_lag_records", quiet] == 3
    assert values["sluice_records_total", quiet] == 10
    assert values["sluice_batches_total", quiet] == 1
    assert values["sluice_breach", ("limit", "max_silence"), quiet] == 0
    assert all(
        values["sluice_step_seconds", quiet, ("step", step)] > 0
        for step in ("plan", "ingest", "settle")
    )
    page = (DOCS / "metrics.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `(sluice_\w+)`", page, re.MULTILINE))
    # No pipeline here has a state table, and so none of its metrics.
    of_state = {each for each in documented if each.startswith("sluice_state_")}
    assert {name for name, *_ in values} == documented - of_state
    assert rule_names() | dashboard_names() <= documented


def test_the_lineage_of_an_ingest_has_the_offsets_and_the_rows(watched: Watched) -> None:
    lines = watched.events.read_text(encoding="utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    (done,) = (
        each
        for each in events
        if (each["job"]["name"], each["eventType"]) == ("quiet.ingest", "COMPLETE")
    )
    (topic,), (table,) = done["inputs"], done["outputs"]
    namespace = f"kafka://{watched.quiet.broker.bootstrap}"
    assert (topic["namespace"], topic["name"]) == (namespace, "quiet")
    receipts = watched.quiet.offsets("committed")
    assert placed(topic["inputFacets"]["sluice_offsets"]["offsetRanges"]) == {
        (row["batch"], row["topic_id"], row["partition"], row["start_offset"], row["end_offset"])
        for row in receipts
    }
    assert (table["namespace"], table["name"]) == ("file", str(watched.quiet.data))
    assert table["outputFacets"]["outputStatistics"]["rowCount"] == 10
    (version,) = {row["data_version"] for row in receipts}
    assert table["facets"]["version"]["datasetVersion"] == str(version)


def placed(ranges: list[dict[str, Any]]) -> set[tuple[Any, ...]]:
    keys = ("batch", "topicId", "partition", "startOffset", "endOffset")
    return {tuple(each[key] for key in keys) for each in ranges}
