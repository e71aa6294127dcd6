"""Dependencies point one way: pure modules, below them nothing; adapters; the pipeline; the CLI."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from tests.unit.sources import JOBS, ROOT, imports, module, packages, shown, sources, tree

SLUICE = sources("jobs/sluice")
OURS = sources("jobs", "dags", "plugins", "local")
MODULES = {module(path): path for path in SLUICE}
ENGINES = {"confluent_kafka", "deltalake", "pyspark", "delta", "aiokafka", "airflow", "pyarrow"}
ONLY_IN = {
    "confluent_kafka": ["sluice.broker.kafka_log", "sluice.broker.kafka_reader"],
    "deltalake": [
        "sluice.adopting.folder",
        "sluice.tables.offsets_table",
        "sluice.tables.offsets_upkeep",
        "sluice.tables.table_ages",
        "sluice.tables.table_rows",
        "sluice.tables.batch_sizes",
        "sluice.tables.data_log",
        "sluice.tables.fencing",
        "sluice.tables.removed_rows",
        "sluice.tables.table_commits",
        "sluice.tables.transaction_versions",
    ],
    "aiokafka": [
        "sluice.broker.raw_connection",
        "sluice.broker.raw_log",
        "sluice.broker.raw_batches",
        "sluice.broker.fingerprints",
        "sluice.broker.samples",
    ],
    "pyspark": ["sluice.lake"],
    "delta": ["sluice.lake"],
    "airflow": [],
}
ADAPTERS = {name for names in ONLY_IN.values() for name in names} | {"sluice.broker.raw_client"}
ABOVE = {"sluice.pipeline", "sluice.proof.verify", "sluice.cli"}
# From the bottom up: a module may import from its own layer and from those below it.
LAYERS = ("pure", "adapter", "pipeline", "cli")


def below(name: str, folders: set[str] | list[str]) -> bool:
    return any(name == each or name.startswith(f"{each}.") for each in folders)


def layer(name: str) -> str:
    if below(name, ["sluice.cli"]):
        return "cli"
    if below(name, ABOVE):
        return "pipeline"
    return "adapter" if below(name, ADAPTERS) else "pure"


def ours_imported_by(name: str) -> set[str]:
    return {each for each in imports(MODULES[name]) if each in MODULES and each != name}


PURE = sorted(name for name in MODULES if layer(name) == "pure")


def test_the_modules_that_must_be_pure_are_taken_for_pure() -> None:
    top, planning = ("spec", "lag", "errors"), ("ranges", "batches", "cutting", "findings", "plans")
    named = {*top, *(f"planning.{name}" for name in planning), "proof.accounting", "proof.gaps"}
    assert {f"sluice.{name}" for name in named} <= set(PURE)


@pytest.mark.parametrize("name", PURE)
def test_a_pure_module_knows_no_engine_not_even_through_others(name: str) -> None:
    seen, waiting = set(), [name]
    while waiting:
        current = waiting.pop()
        seen.add(current)
        assert not packages(MODULES[current]) & ENGINES, f"{name} reaches an engine by {current}"
        waiting += ours_imported_by(current) - seen


@pytest.mark.parametrize("engine", ONLY_IN)
def test_an_engine_is_imported_by_its_adapter_alone(engine: str) -> None:
    importing = {name for name, path in MODULES.items() if engine in packages(path)}
    assert {name for name in importing if not below(name, ONLY_IN[engine])} == set()


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_module_imports_from_its_own_layer_and_from_those_below(name: str) -> None:
    allowed = LAYERS[: LAYERS.index(layer(name)) + 1]
    upwards = {each for each in ours_imported_by(name) if layer(each) not in allowed}
    assert upwards == set(), f"{name} ({layer(name)}) imports from above"


def test_no_two_modules_import_each_other() -> None:
    done: set[str] = set()

    def follow(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, f"a circle: {' → '.join([*path[path.index(name) :], name])}"
        if name not in done:
            for each in sorted(ours_imported_by(name) - {name.rpartition(".")[0]}):
                follow(each, (*path, name))
            done.add(name)

    for name in MODULES:
        follow(name, ())


def test_the_environment_is_read_at_the_edge_only() -> None:
    edge = ["sluice.cli", "sluice.failpoints"]
    reading = {
        name
        for name, path in MODULES.items()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv")
    }
    assert {name for name in reading if not below(name, edge)} == set()


def test_product_code_uses_nothing_of_the_jvm_that_spark_connect_lacks() -> None:
    forbidden = {"_jvm", "_jsc", "_sc", "sparkContext", "SparkContext", "rdd", "toJavaRDD", "udf"}
    found = [
        f"{shown(path)}:{node.lineno}"
        for path in [*SLUICE, JOBS / "ingest.py"]
        for node in ast.walk(tree(path))
        if (isinstance(node, ast.Attribute) and node.attr in forbidden)
        or (isinstance(node, ast.Name) and node.id in forbidden)
    ]
    assert found == []


def libraries() -> set[str]:
    """Names that an import could mistake for a library: Python's own, ours of requirements.in."""
    text = (ROOT / "requirements.in").read_text(encoding="utf-8")
    direct = re.findall(r"^([A-Za-z0-9_.-]+)", text, re.MULTILINE)
    known = {"delta", "kafka", "config", "spark", "airflow", "yaml", "arrow", "duckdb", "pytest"}
    return {each.lower().replace("-", "_") for each in direct} | known | sys.stdlib_module_names


@pytest.mark.parametrize("path", OURS, ids=shown)
def test_no_file_is_named_like_a_library_or_a_drawer(path: Path) -> None:
    drawers = {"utils", "util", "common", "helpers", "helper", "misc", "base"}
    names = {path.stem, path.parent.name} - {"__init__", "__main__"}
    assert not names & drawers
    assert not {path.stem.lower()} & libraries(), f"{shown(path)} is named like a library"


@pytest.mark.parametrize("path", OURS, ids=shown)
def test_a_file_fits_into_250_lines_and_a_function_into_40(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 250
    long = [
        f"{shown(path)}:{node.lineno} {node.name}: {node.end_lineno - node.lineno + 1} lines"
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > 40
    ]
    assert long == []


@pytest.mark.parametrize("path", OURS, ids=shown)
def test_a_file_says_its_noun_first(path: Path) -> None:
    assert ast.get_docstring(tree(path)) or not path.read_text(encoding="utf-8").strip()


def test_plugins_are_flat_files_with_unique_names() -> None:
    names = [path.stem for path in sources("plugins", "dags", "jobs") if path.stem != "__init__"]
    plugins = sources("plugins")
    assert all(path.parent == ROOT / "plugins" for path in plugins)
    assert all(names.count(path.stem) == 1 for path in plugins)


@pytest.mark.parametrize("path", sources("tests/oracle"), ids=shown)
def test_the_oracle_shares_no_code_with_the_product(path: Path) -> None:
    foreign = packages(path) & {"sluice", "jobs", "dags", "plugins", "kafka_to_delta", "ingest"}
    assert not foreign
    dynamic = [
        node.lineno
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.match(r"sluice\.[a-z_]+$", node.value)
    ]
    assert dynamic == [], "an import by name"
