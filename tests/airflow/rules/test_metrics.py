"""Metrics: real datagrams of the StatsD client that Airflow's configuration makes."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest
from airflow.sdk.observability import stats
from airflow.sdk.observability.metrics import stats_utils
from sluice.operations.overview.gauges import GAUGES, REFUSED_SPECS, REFUSED_SPECS_TEXT
from sluice.operations.overview.overview import Progress
from sluice.progress.undecodable import QuarantinedShare
from sluice.protocol.settle.write_receipts import Settlement
from sluice.scheduling.metrics import (
    COUNTERS,
    STEP,
    STEP_TEXT,
    count_settled,
    tell_overview,
    tell_refused,
    timed,
)

from tests.unit.operations.overview.test_overview import MINUTE, lag, overview, settled
from tests.worlds.monitoring import received

PAGE = Path(__file__).parents[3] / "docs" / "metrics.md"


@pytest.fixture
def statsd(monkeypatch):
    """`statsd(influxdb=True)` opens a port, and makes Airflow's client as a task does."""
    opened = []

    def listen(**on):
        port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        opened.append(port)
        port.bind(("127.0.0.1", 0))
        for key, value in {
            "ON": True,
            "HOST": "127.0.0.1",
            "PORT": port.getsockname()[1],
            "INFLUXDB_ENABLED": on.get("influxdb", False),
        }.items():
            monkeypatch.setenv(f"AIRFLOW__METRICS__STATSD_{key}", str(value))
        stats.initialize(factory=stats_utils.get_stats_factory(), export_legacy_names=True)
        return port

    yield listen
    monkeypatch.undo()
    stats.initialize(factory=stats_utils.get_stats_factory(), export_legacy_names=True)
    for port in opened:
        port.close()


BEHIND = overview(
    lag(5, 45 * MINUTE, 60 * MINUTE),
    progress=Progress(1, 0, last=settled(), lost=3, quarantined=QuarantinedShare("b", 0.1)),
    alerts={"max_lag": "PT30M"},
)


def test_in_plain_statsd_the_pipeline_is_part_of_the_name(statsd):
    port = statsd()
    tell_overview(BEHIND)
    told = received(port)
    name = BEHIND.spec.pipeline
    assert f"airflow.sluice.{name}.lag_records:5|g" in told
    assert f"airflow.sluice.{name}.lag_seconds:2700.0|g" in told
    assert f"airflow.sluice.{name}.quarantine_ratio:0.1|g" in told
    assert f"airflow.sluice.{name}.state.behind:1.0|g" in told
    assert f"airflow.sluice.{name}.breach.max_lag:1.0|g" in told


def test_where_statsd_has_tags_the_pipeline_is_one(statsd):
    port = statsd(influxdb=True)
    tell_overview(BEHIND)
    told = received(port)
    name = BEHIND.spec.pipeline
    assert f"airflow.sluice.lag_records,pipeline={name}:5|g" in told
    assert f"airflow.sluice.breach,pipeline={name},limit=max_lag:1.0|g" in told


def test_what_is_unknown_is_not_told(statsd):
    port = statsd()
    tell_overview(overview(progress=None, asked=False, problem="no answer"))
    assert {each.split(".")[3].partition(":")[0] for each in received(port)} == {"state"}


def test_a_settlement_is_counted_and_one_without_receipts_is_not(statsd):
    port = statsd()
    count_settled("trips", Settlement())
    both = [settled(records=9, quarantined=1).receipt, settled(records=5).receipt]
    count_settled("trips", Settlement(tuple(both)))
    assert received(port) == [
        "airflow.sluice.trips.batches_total:2|c",
        "airflow.sluice.trips.records_total:14|c",
        "airflow.sluice.trips.quarantined_total:1|c",
        "airflow.sluice.trips.filtered_total:0|c",
        "airflow.sluice.trips.lost_total:0|c",
    ]


def test_a_step_that_succeeds_is_timed_and_one_that_fails_is_not(statsd):
    port = statsd()
    with pytest.raises(ValueError, match="no"), timed("trips", "ingest"):
        raise ValueError("no")
    assert timed("trips", "plan")(lambda *, run: run)(run=7) == 7
    (told,) = received(port)
    assert re.fullmatch(r"airflow\.sluice\.trips\.step_seconds\.plan:[\d.e-]+\|g", told)


def test_without_a_backend_nothing_is_told_and_nothing_fails(statsd, monkeypatch):
    port = statsd()
    monkeypatch.setenv("AIRFLOW__METRICS__STATSD_ON", "False")
    stats.initialize(factory=stats_utils.get_stats_factory(), export_legacy_names=True)
    tell_overview(BEHIND)
    assert received(port) == []


def test_a_step_goes_on_where_its_metrics_cannot_be_told(statsd, monkeypatch, caplog):
    statsd()
    monkeypatch.setenv("AIRFLOW__METRICS__STATSD_DATADOG_ENABLED", "perhaps")
    tell_overview(BEHIND)
    count_settled("trips", Settlement((settled(records=9).receipt,)))
    assert timed("trips", "plan")(lambda *, run: run)(run=7) == 7
    with pytest.raises(ValueError, match=r"^no$"), timed("trips", "ingest"):
        raise ValueError("no")
    told = [
        each.getMessage() for each in caplog.records if each.name == "sluice.scheduling.metrics"
    ]
    assert [each.partition(":")[0] for each in told] == [BEHIND.spec.pipeline, "trips", "trips"]
    assert all("no metrics are sent: AirflowConfigException: " in each for each in told)


def test_a_watch_goes_on_where_a_backend_cannot_be_made(statsd, monkeypatch, caplog):
    statsd()
    monkeypatch.setenv("AIRFLOW__METRICS__STATSD_PORT", "no-port")
    stats.initialize(factory=stats_utils.get_stats_factory(), export_legacy_names=True)
    tell_refused(1)
    assert "the number of refused specs is not sent" in "\n".join(caplog.messages)


def test_the_page_lists_every_metric_with_its_labels_and_its_text():
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| ([^|]+) \| ([^|]+) \|", PAGE.read_text(), re.M)
    labelled = {each.name: ["pipeline", *filter(None, [each.label])] for each in GAUGES}
    told = [
        *((each.name, "gauge", labelled[each.name], each.text) for each in GAUGES),
        (REFUSED_SPECS, "gauge", [], REFUSED_SPECS_TEXT),
        (STEP, "gauge", ["pipeline", "step"], STEP_TEXT),
        *((each.name, "counter", ["pipeline"], each.text) for each in COUNTERS),
    ]
    assert [
        (name.removeprefix("sluice_"), kind, re.findall(r"`(\w+)`", labels), text)
        for name, kind, labels, text in rows
    ] == told
