"""docs/sources: scenes are read as the pages are written; specs load; the index has each page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from sluice.spec_folder import load_spec

from tests.unit.docs.test_operations_page import anchor
from tests.worlds.source_pages import FOLDER, Query, Sent, pages, read_page, records

SPEC = """```yaml
version: 1
pipeline: orders
topics: [orders]
table: orders
format: {type: json, schema: "id BIGINT"}
```
"""
RECORDS = '```jsonl\n{"value": {"id": 1}}\n```\n'
QUERY = "```sql\nSELECT id FROM orders\n```\n"
RESULT = "```text\nid\n1\n```\n"


def test_a_scene_is_a_spec_its_records_and_queries_with_results() -> None:
    view = "```sql\nCREATE VIEW v AS SELECT 1;\nSELECT id FROM v\n```\n"
    excerpt = "```yaml\nrescue: true\n```\n"
    beside = "```proto file=order.proto\nsyntax\n```\n"
    page = read_page(
        f"# P\n{beside}{SPEC}text\n{RECORDS}{QUERY}so\n{RESULT}{excerpt}{view}{RESULT}"
    )
    (scene,) = page.scenes
    assert scene.spec["pipeline"] == "orders"
    assert [each.value for each in scene.records] == [b'{"id": 1}']
    assert scene.queries == [
        Query(("SELECT id FROM orders",), ("id", "1")),
        Query(("CREATE VIEW v AS SELECT 1", "SELECT id FROM v"), ("id", "1")),
    ]
    assert page.files == {"order.proto": "syntax\n"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (RECORDS, "expected a spec before the `jsonl` block"),
        ("no block", "expected a page with a spec"),
        (SPEC + QUERY + RESULT, "orders: a `jsonl` block"),
        (SPEC + RECORDS, "orders: a `sql` block"),
        (SPEC + RECORDS + QUERY, "expected a `text` block"),
        (SPEC + RECORDS + QUERY + QUERY + RESULT, "expected a `text` block"),
        (SPEC.replace("table: orders", "table: o"), "table orders, like the pipeline, found o"),
    ],
)
def test_blocks_that_make_no_whole_scene_are_refused(text: str, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        read_page(text)


def test_records_are_sent_as_they_stand() -> None:
    block = """
{"key": {"id": 1},
 "value": {"n": 1.10,
           "t": "é"}}
{"key": "k", "value": null, "headers": {"kind": "order", "none": null}, "timestamp": 7}
{"value_base64": "AAE=", "topic": "other"}
"""
    assert [*records(block)] == [
        Sent(None, b'{"id": 1}', '{"n": 1.10,\n           "t": "é"}'.encode()),
        Sent(None, b"k", None, (("kind", b"order"), ("none", None)), 7),
        Sent("other", None, b"\0\1"),
    ]
    with pytest.raises(ValueError, match="expected members of"):
        [*records('{"values": 1}')]


@pytest.mark.parametrize("page", pages(), ids=lambda path: path.stem)
def test_a_page_has_whole_scenes_with_specs_that_load(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    found = read_page(text)
    found.write_files(tmp_path)
    for scene in found.scenes:
        file = tmp_path / f"{scene.spec['pipeline']}.yaml"
        file.write_text(yaml.safe_dump(dict(scene.spec)), encoding="utf-8")
        assert load_spec(file).pipeline == scene.spec["pipeline"]


@pytest.mark.parametrize("page", [*pages(), FOLDER / "README.md"], ids=lambda path: path.stem)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for path, where in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)", text):
        target = page.parent / path if path else page
        assert target.exists(), path
        headings = re.findall(r"^#+ (.+)$", target.read_text("utf-8"), re.MULTILINE)
        assert not where or where in map(anchor, headings), (path, where)


def test_the_index_has_every_page() -> None:
    index = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\(([\w-]+\.md)\)", index)) == {page.name for page in pages()}
