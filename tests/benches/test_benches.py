"""Each bench runs with little to do: every contender has its turn, and what is compared a ratio."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.worlds.benches import figures, held

pytestmark = pytest.mark.integration
NAMES = ["available-now", "raw-limit", "run-cold"]


def lines(found: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Who took how long, and whose ratio there is, by the first cells of both tables."""
    taken, ratios, *_ = ([line[0] for line in each["lines"][1:]] for each in found["tables"])
    return taken, ratios


def test_each_choice_of_statistics_is_measured_beside_the_others(tmp_path: Path) -> None:
    few = ("--rows", "1000", "--columns", "30")
    found, _ = figures(tmp_path, "local.bench.wide_tables", *few)
    (size,) = found["measured"]
    assert [*size["turns"]["seconds"]] == ["none", "all", "twenty", "chosen"]
    taken, ratios = lines(found)
    assert len(taken) == 4
    assert ratios[0] == "chosen / twenty"


def test_the_bench_measures_whole_processes_and_counts_their_rows(tmp_path: Path) -> None:
    found, printed = figures(tmp_path, "local.bench", "--records", "401", *NAMES)
    (size,) = found["measured"]
    assert size["records"] == 400, "as many for each of the four partitions"
    assert {name: len(each) for name, each in size["turns"]["seconds"].items()} == dict.fromkeys(
        NAMES, 1
    )
    assert "run-cold / available-now" in printed


def test_the_bench_of_scale_measures_every_step_of_small_tables() -> None:
    printed = held("local.bench.scale", "--quick")
    assert "over 400" not in printed
    for part in (
        "300 batches of 4",
        "50 partitions",
        "50 files",
        "5 pipelines",
        "3 pipelines",
        "2 pipelines",
    ):
        assert part in printed


def test_one_partition_is_measured_beside_four(tmp_path: Path) -> None:
    some = ("--records", "400", "one-cold", "one-warm", "four-cold")
    found, _ = figures(tmp_path, "local.bench.hot_partition", *some)
    taken, ratios = lines(found)
    assert taken == ["four-cold", "one-cold", "one-warm"]
    assert ratios == ["one-cold / four-cold"]


def test_pipelines_of_a_kind_each_are_measured_beside_one_of_all(tmp_path: Path) -> None:
    found, _ = figures(tmp_path, "local.bench.kinds", "--records", "400", "--kinds", "2")
    taken, ratios = lines(found)
    assert taken == ["all", "header", "where"]
    assert ratios == ["header / all", "where / all"]


def test_a_state_table_is_measured_beside_a_merge_by_hand(tmp_path: Path) -> None:
    few = ("--keys", "40", "--changes", "100", "--uncounted", "0", "ours-warm", "log-merge-warm")
    found, _ = figures(tmp_path, "local.bench.state", *few)
    taken, ratios = lines(found)
    assert taken == ["ours-warm", "log-merge-warm"]
    assert ratios == ["ours-warm / log-merge-warm"]
    uniform, skewed = found["measured"]
    assert (uniform["load"]["skewed"], skewed["load"]["skewed"]) == (False, True)
    for each in found["measured"]:
        assert all(each["bytes_each"].values()), "a row that changes is written"


def test_a_format_is_measured_from_kafka_to_delta_beside_a_plain_job(tmp_path: Path) -> None:
    some = ("--records", "1000", "avro", "protobuf")
    found, _ = figures(tmp_path, "local.bench.formats_to_tables", *some)
    taken, ratios = lines(found)
    pairs = [f"ingest-{each} / plain-{each}" for each in ("avro", "protobuf")]
    assert ratios == pairs
    assert set(taken) == {name for pair in pairs for name in pair.split(" / ")}


def test_each_format_is_measured_beside_sparks_own_decoding(tmp_path: Path) -> None:
    found, _ = figures(tmp_path, "local.bench.formats", "--records", "1000")
    taken, ratios = lines(found)
    pairs = ["json / from_json", "avro / from_avro", "protobuf / python", "raw / bytes"]
    assert ratios == pairs
    assert set(taken) == {name for pair in pairs for name in pair.split(" / ")}
