"""The house: what may import what, decisions apart from effects, names and sizes."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.unit.sources import JOBS, ROOT, module, packages, shown, sources, tree

SLUICE = sources("jobs/sluice")
OURS = sources("jobs", "dags", "plugins", "local")
MODULES = {module(path): path for path in SLUICE}
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONTRACTS = {each["id"]: each for each in PYPROJECT["tool"]["importlinter"]["contracts"]}
# What reaches out of the process, waits or asks a clock, without an import that would tell.
EFFECTS = {"open", "read_text", "write_text", "unlink", "mkdir", "sleep", "system", "now", "print"}


def below(name: str, folders: Iterable[str]) -> bool:
    return any(name == each or name.startswith(f"{each}.") for each in folders)


def test_the_contracts_over_imports_hold() -> None:
    """Layers, engines, purity and circles: `[tool.importlinter]` of pyproject.toml."""
    # In a process of its own: it silences the loggers that are there.
    linter = Path(sys.executable).with_name("lint-imports")
    found = subprocess.run(
        [linter, "--no-cache", "--no-logo"], cwd=ROOT, capture_output=True, text=True
    )
    assert found.returncode == 0, found.stdout + found.stderr


def test_the_design_lists_the_folders_in_the_same_order() -> None:
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    listed = re.findall(
        r"`([a-z_]+)/?`", "".join(re.findall(r"^\| (`.+?`) \|", page, re.MULTILINE))
    )
    known = CONTRACTS["house"]["layers"][::-1]
    assert [each for each in listed if each in known] == known


def test_a_pure_module_does_no_io_and_asks_no_clock() -> None:
    pure = [name for name in MODULES if below(name, CONTRACTS["pure"]["source_modules"])]
    found = [
        f"{name}:{node.lineno}"
        for name in pure
        for node in ast.walk(tree(MODULES[name]))
        if isinstance(node, ast.Call)
        and (
            (isinstance(node.func, ast.Attribute) and node.func.attr in EFFECTS)
            or (isinstance(node.func, ast.Name) and node.func.id in EFFECTS)
        )
    ]
    assert found == []


def test_the_environment_is_read_at_the_edge_only() -> None:
    # The session reads what Spark itself reads in the same call.
    edge = [
        "sluice.cli",
        "sluice.driver",
        "sluice.failpoints",
        "sluice.scheduling",
        "sluice.lake.session",
    ]
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
        for path in SLUICE
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


def test_a_file_fits_into_320_lines_and_a_function_into_40() -> None:
    """Advice: 250. Rather 320 lines with one reason than a class in two halves."""
    lines = {shown(path): path.read_text(encoding="utf-8").count("\n") for path in OURS}
    assert {name: count for name, count in lines.items() if count > 320} == {}
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


def test_airflow_executes_no_file_of_ours_by_its_place() -> None:
    """It executes every file below `plugins/`, in each process; ours comes by entry point."""
    assert list((ROOT / "plugins").rglob("*.py")) == []


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


# What these test is no module of the product, or all of them.
APART = {"test_architecture", "test_repository", "test_starts", "test_wrong_input"}
ELSEWHERE = {"docs", "local", "oracle", "soak"}
UNIT = ROOT / "tests" / "unit"


def of_a_module(path: Path) -> bool:
    """`reset/test_targets_by_group.py` tests `targets` in `reset/`, or a whole folder `targets`."""
    name = path.stem.removeprefix("test_")
    folder = JOBS / "sluice" / path.parent.relative_to(UNIT)
    return any(f"{name}_".startswith(f"{each.stem}_") for each in folder.glob("*"))


def test_a_unit_test_is_named_and_placed_like_the_module_that_it_tests() -> None:
    found = [
        path
        for path in UNIT.rglob("test_*.py")
        if path.stem not in APART and path.relative_to(UNIT).parts[0] not in ELSEWHERE
    ]
    assert [shown(path) for path in found if not of_a_module(path)] == []
