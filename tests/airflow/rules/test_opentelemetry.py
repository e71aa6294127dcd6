"""Metrics over OpenTelemetry: what a collector is sent by a process that ends like a task's."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)

TELLING = """
from airflow.sdk.observability import stats
from airflow.sdk.observability.metrics import stats_utils
from sluice.protocol.settle.write_receipts import Settlement
from sluice.scheduling.metrics import count_settled, tell_overview
from tests.airflow.rules.test_metrics import BEHIND, settled

stats.initialize(factory=stats_utils.get_stats_factory(), export_legacy_names=True)
tell_overview(BEHIND)
count_settled("trips", Settlement((settled(records=9).receipt,)))
"""


@pytest.fixture
def collector():
    """A collector's address, and the bodies that were posted to it."""
    posted: list[bytes] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self):
            posted.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            """Says nothing."""

    server = HTTPServer(("127.0.0.1", 0), Collector)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", posted
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.patient
def test_a_collector_gets_the_pipeline_as_an_attribute(collector):
    address, posted = collector
    environment = {
        "AIRFLOW__METRICS__OTEL_ON": "True",
        "OTEL_EXPORTER_OTLP_ENDPOINT": address,
        "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
        "NO_PROXY": "127.0.0.1",
        "PYTHONPATH": str(Path(__file__).parents[3]),
    }
    command = [sys.executable, "-c", TELLING]
    subprocess.run(command, env={**os.environ, **environment}, check=True, timeout=60)
    told = {}
    for request in map(ExportMetricsServiceRequest.FromString, posted):
        for metric in (
            each
            for resource in request.resource_metrics
            for scope in resource.scope_metrics
            for each in scope.metrics
        ):
            for point in (*metric.gauge.data_points, *metric.sum.data_points):
                labels = {each.key: each.value.string_value for each in point.attributes}
                value = getattr(point, point.WhichOneof("value"))
                told[metric.name, *sorted(labels.items())] = value
    pipeline = ("pipeline", "flights")
    assert told["airflow.sluice.lag_records", pipeline] == 5
    assert told["airflow.sluice.state", pipeline, ("state", "behind")] == 1
    assert told["airflow.sluice.state", pipeline, ("state", "fresh")] == 0
    assert told["airflow.sluice.breach", ("limit", "max_lag"), pipeline] == 1
    assert told["airflow.sluice.records_total", ("pipeline", "trips")] == 9
