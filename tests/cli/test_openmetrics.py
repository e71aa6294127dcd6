"""`sluice status --format openmetrics`: what Prometheus reads of real pipelines."""

from __future__ import annotations

import json

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from tests.worlds.command_line import run_main
from tests.worlds.monitoring import rule_names
from tests.worlds.pipelines import Installed, Pipelines, Topic, landed, more

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

Series = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def told(trips: Installed, *words: str) -> Series:
    """The series that the command prints, as Prometheus' own parser reads them."""
    words = ("sluice", "status", *words, "--format", "openmetrics")
    done = run_main(words, trips.environment, trips.folder)
    assert done.returncode == 0, done.stderr
    families = text_string_to_metric_families(done.stdout)
    return {
        (each.name, tuple(sorted(each.labels.items()))): each.value
        for family in families
        for each in family.samples
    }


def pipelines(found: Series) -> set[str]:
    return {dict(labels)["pipeline"] for _, labels in found if labels}


def of(pipeline: str, name: str, **labels: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    return f"sluice_{name}", tuple(sorted({"pipeline": pipeline, **labels}.items()))


def test_the_numbers_are_those_of_the_tables_and_of_kafka(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = landed(pipeline(topic(retention_ms=3_600_000), alerts={"max_silence": "PT2H"}))
    more(trips, 3, 20)
    found = told(trips, "--all")
    assert found[of("trips", "lag_records")] == 3
    assert found[of("trips", "lag_seconds")] > 0
    assert 0 < found[of("trips", "time_to_loss_seconds")] <= 3600
    assert found[of("trips", "last_batch_records")] == 10
    assert found[of("trips", "quarantine_ratio")] == 0
    assert found[of("trips", "lost_records")] == 0
    assert found[of("trips", "breach", limit="max_silence")] == 0
    assert found["sluice_specs_refused", ()] == 0
    needed = {each for each in rule_names() if not each.startswith("sluice_state_")}
    assert needed <= {name for name, _ in found}, "the rules need nothing else"
    states = {dict(labels)["state"]: on for (name, labels), on in found.items() if "state" in name}
    assert states == {"stopped": 0, "unknown": 0, "behind": 0, "fresh": 1}
    settled = max(row["recorded_at"] for row in trips.offsets("committed"))
    assert found[of("trips", "last_batch_timestamp_seconds")] == settled.timestamp()


def test_of_a_pipeline_that_kafka_tells_nothing_of_no_lag_is_invented(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = landed(pipeline(topic(), alerts={"max_lag": "PT30M"}), 1)
    trips.kafka = {"bootstrap.servers": "127.0.0.1:1", "socket.timeout.ms": "1000"}
    found = told(trips, "--all")
    assert found[of("trips", "state", state="unknown")] == 1
    assert found[of("trips", "breach", limit="max_lag")] == 1
    assert found[of("trips", "last_batch_records")] == 10
    unknown = ("lag_records", "lag_seconds", "time_to_loss_seconds")
    assert not {of("trips", name) for name in unknown} & found.keys()


def test_one_pipeline_can_be_named_and_one_that_is_not_there_is_refused(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic())
    never_ran = trips.spec_file.read_text().replace("trips", "tours")
    (trips.spec_file.parent / "tours.yaml").write_text(never_ran)
    both = told(trips)
    assert pipelines(both) == {"trips", "tours"}
    one = told(trips, "tours")
    assert pipelines(one) == {"tours"}
    words = ["sluice", "status", "nobody", "--format", "openmetrics"]
    refused = run_main(words, trips.environment, trips.folder)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "nobody" in refused.stderr


def test_a_spec_that_is_refused_is_counted_and_named(topic: Topic, pipeline: Pipelines) -> None:
    trips = landed(pipeline(topic()), 1)
    broken = trips.spec_file.parent / "tours.yaml"
    broken.write_text("version: 2\n")
    found = told(trips)
    assert (pipelines(found), found["sluice_specs_refused", ()]) == ({"trips"}, 1)
    shown = run_main(["sluice", "status"], trips.environment, trips.folder)
    assert shown.returncode == 0
    assert f"refused: {broken}: " in shown.stdout
    document = run_main(["sluice", "status", "--json"], trips.environment, trips.folder)
    assert list(json.loads(document.stdout)["refused"]) == [str(broken)]
    trips.judge()
