"""A bad spec is an import error that says what to change; the other pipelines go on."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"tabel": "x"}, ["unknown key", "tabel", "allowed", "table"]),
        ({"schedule": "soon"}, ["schedule", "'soon'", "cron"]),
        ({"schedule": "0 0 31 2 *"}, ["schedule", "'0 0 31 2 *'", "never fires"]),
        ({"max_records_per_batch": 0}, ["max_records_per_batch", "found 0"]),
    ],
)
def test_the_error_names_file_key_found_and_allowed(write_spec, parse, keys, said):
    write_spec("flights")
    bad = write_spec("weather", **keys)
    bag = parse()
    assert {name for name in bag.dags if not name.startswith("sluice_")} == {"flights"}
    ((file, text),) = bag.import_errors.items()
    assert file == "refused_specs.py"
    for part in (str(bad), *said):
        assert part in text


def test_a_file_that_is_no_yaml_at_all_hinders_nobody(write_spec, specs, parse):
    write_spec("flights")
    (specs / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    (specs / "date.yaml").write_text("start: 2013-99-99", encoding="utf-8")
    bag = parse()
    assert {name for name in bag.dags if not name.startswith("sluice_")} == {"flights"}
    assert "binary.yaml" in bag.import_errors["refused_specs.py"]
    assert "date.yaml" in bag.import_errors["refused_specs.py"]


def test_a_copied_spec_does_not_push_the_first_aside(write_spec, parse):
    write_spec("flights", description="the first")
    copy = write_spec("flights", file="a_copy.yaml", description="the copy")
    bag = parse()
    assert bag.dags["flights"].description == "the first"
    text = bag.import_errors["refused_specs.py"]
    assert f"{copy}: pipeline: found 'flights', which flights.yaml already has" in text


def test_two_specs_of_one_table_are_told_and_neither_is_stopped(write_spec, parse):
    working = write_spec("orders_ingest", table="orders")
    new = write_spec("orders", table="orders")
    bag = parse()
    assert {"orders_ingest", "orders"} <= bag.dags.keys()
    text = bag.import_errors["refused_specs.py"]
    assert f"{new}: table: found 'orders', which orders_ingest.yaml names as well; " in text
    assert f"{working}: table: found 'orders', which orders.yaml names as well; " in text
    assert "The table stays with the pipeline that it was created for, which runs on" in text


def test_a_missing_folder_is_said(specs, parse):
    specs.rmdir()
    bag = parse()
    assert set(bag.dags) == {"sluice_watch"}
    assert "no such folder" in bag.import_errors["refused_specs.py"]
