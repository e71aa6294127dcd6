"""The house: folders in one order, each engine in one folder, decisions apart from effects."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.unit.sources import JOBS, ROOT, imports, module, packages, shown, sources, tree

SLUICE = sources("jobs/sluice")
OURS = sources("jobs", "dags", "plugins", "local")
MODULES = {module(path): path for path in SLUICE}
# Their `__init__` says what they are for, and holds nothing.
PACKAGES = {
    module(path).removeprefix("sluice.")
    for path in SLUICE
    if path.name == "__init__.py" and len(tree(path).body) == 1
}

# From the ground up: a folder, or a file beside them, imports only from itself and from above here.
FOLDERS = (
    "moves",
    "errors",
    "failpoints",
    "clock",
    "settings",
    "strict_model",
    "telling",
    "tls",
    "processes",
    "offsets",
    "positions",
    "columns",
    "schemas",
    "derived",
    "spec_file",
    "spec_folder",
    "broker",
    "tables",
    "registry",
    "progress",
    "lake",
    "protocol.plan",
    "protocol.ingest",
    "protocol.settle",
    "operations.maintain",
    "operations.status",
    "operations.history",
    "operations.run_summary",
    "operations.overview",
    "operations.check",
    "operations.peek",
    "operations.backfill",
    "operations.reset",
    "operations.recover",
    "operations.quarantine",
    "operations.verify",
    "operations.commands",
    "pipeline",
    "cli",
    "scheduling",
)
# Each engine, and the folder that imports it.
ENGINES = {
    "confluent_kafka": "broker",
    "aiokafka": "broker",
    "httpx": "registry",
    "deltalake": "tables",
    "pyarrow": "tables",
    "pyspark": "lake",
    "grpc": "lake",
    "delta": "lake",
    "airflow": "scheduling",
}
# Folders of values and decisions: what they know, they are given.
PURE_FOLDERS = (
    *("moves", "errors", "strict_model"),
    *("offsets", "positions", "columns", "schemas", "derived", "spec_file"),
)
# What reaches out of the process, or waits.
OUTSIDE = {
    *(
        "asyncio",
        "ctypes",
        "getpass",
        "os",
        "signal",
        "socket",
        "subprocess",
        "tempfile",
        "threading",
    ),
    *("shutil", "psutil", "requests", "httpx", "time", "urllib", "random"),
}
EFFECTS = {"open", "read_text", "write_text", "unlink", "mkdir", "sleep", "system", "now", "print"}


def below(name: str, folders: Iterable[str]) -> bool:
    return any(name == each or name.startswith(f"{each}.") for each in folders)


def folder(name: str) -> str:
    """The entry of FOLDERS that a module belongs to."""
    within = name.removeprefix("sluice.")
    return next(each for each in FOLDERS if below(within, [each]))


def ours_imported_by(name: str) -> set[str]:
    return {each for each in imports(MODULES[name]) if each in MODULES and each != name}


def is_pure(name: str) -> bool:
    return below(name.removeprefix("sluice."), PURE_FOLDERS)


PLACED = sorted(name for name in MODULES if name.removeprefix("sluice.") not in PACKAGES)
PURE = [name for name in PLACED if is_pure(name)]


def test_a_module_imports_only_from_its_own_folder_and_from_those_above_it() -> None:
    wrong = {
        f"{name} imports {each}, which is below it in FOLDERS"
        for name in PLACED
        for each in ours_imported_by(name)
        if each.removeprefix("sluice.") not in PACKAGES
        and FOLDERS.index(folder(each)) > FOLDERS.index(folder(name))
    }
    assert wrong == set()


def test_no_two_folders_import_each_other() -> None:
    between = {
        (folder(name), folder(each))
        for name in PLACED
        for each in ours_imported_by(name)
        if each.removeprefix("sluice.") not in PACKAGES and folder(name) != folder(each)
    }
    assert {pair for pair in between if pair[::-1] in between} == set()


def test_every_folder_of_the_list_is_there_and_no_other() -> None:
    assert {folder(name) for name in PLACED} == set(FOLDERS)


def test_the_design_lists_the_folders_in_the_same_order() -> None:
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    listed = re.findall(
        r"`([a-z_]+)/?`", "".join(re.findall(r"^\| (`.+?`) \|", page, re.MULTILINE))
    )
    known = list(dict.fromkeys(each.partition(".")[0] for each in FOLDERS))
    assert [each for each in listed if each in known] == known


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_is_imported_in_one_folder(engine: str) -> None:
    importing = {name for name, path in MODULES.items() if engine in packages(path)}
    folders = [f"sluice.{each}" for each in ENGINES[engine].split()]
    assert {name for name in importing if not below(name, folders)} == set()


def reached_by(name: str) -> set[str]:
    """A module, and all that it imports, itself or through others."""
    seen, waiting = set(), [name]
    while waiting:
        current = waiting.pop()
        seen.add(current)
        waiting += ours_imported_by(current) - seen
    return seen


def test_a_pure_module_reaches_no_engine_not_even_through_others() -> None:
    acting = {name for name, path in MODULES.items() if packages(path) & ENGINES.keys()}
    found = {name: reached_by(name) & acting for name in PURE}
    assert {name: engines for name, engines in found.items() if engines} == {}


def test_a_pure_module_does_no_io_and_asks_no_clock() -> None:
    assert {name for name in PURE if packages(MODULES[name]) & OUTSIDE} == set()
    found = [
        f"{name}:{node.lineno}"
        for name in PURE
        for node in ast.walk(tree(MODULES[name]))
        if isinstance(node, ast.Call)
        and (
            (isinstance(node.func, ast.Attribute) and node.func.attr in EFFECTS)
            or (isinstance(node.func, ast.Name) and node.func.id in EFFECTS)
        )
    ]
    assert found == []


def test_a_pure_module_imports_no_module_that_acts() -> None:
    found = {
        f"{name} imports {each}"
        for name in PURE
        for each in ours_imported_by(name)
        if each in PLACED and not is_pure(each)
    }
    assert found == set()


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
    # The session reads what Spark itself reads in the same call.
    edge = ["sluice.cli", "sluice.failpoints", "sluice.scheduling", "sluice.lake.session"]
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


def test_no_file_is_named_like_a_library_or_a_drawer() -> None:
    drawers = {"utils", "util", "common", "helpers", "helper", "misc", "base"}
    forbidden = libraries() | drawers
    found = {path for path in OURS if path.stem.lower() in forbidden or path.parent.name in drawers}
    assert {shown(each) for each in found} == set()


def test_a_file_fits_into_250_lines_and_a_function_into_40() -> None:
    lines = {shown(path): path.read_text(encoding="utf-8").count("\n") for path in OURS}
    assert {name: count for name, count in lines.items() if count > 250} == {}
    long = [
        f"{shown(path)}:{node.lineno} {node.name}: {node.end_lineno - node.lineno + 1} lines"
        for path in OURS
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > 40
    ]
    assert long == []


def test_a_file_says_its_noun_first() -> None:
    silent = {path for path in OURS if not ast.get_docstring(tree(path))}
    assert {shown(each) for each in silent if each.read_text(encoding="utf-8").strip()} == set()


def test_airflow_executes_one_file_of_ours() -> None:
    """It executes every file below `plugins/`, in each process, under a name of its own."""
    assert [shown(path) for path in sources("plugins")] == ["plugins/sluice_plugin.py"]


def test_the_driver_and_the_operator_agree_on_one_definition() -> None:
    """How a job under spark-submit tells its task what went wrong: one module has the words."""
    words = ("SLUICE-ERROR", "sys.exit(3", "REFUSED =")
    having = {
        shown(path)
        for path in OURS
        if any(word in path.read_text(encoding="utf-8") for word in words)
    }
    assert having == {"jobs/sluice/lake/job_errors.py"}


ORACLE = [path for path in sources("tests/oracle") if not path.name.startswith("test_")]


@pytest.mark.parametrize("path", ORACLE, ids=shown)
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
