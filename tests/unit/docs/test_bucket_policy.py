"""The bucket's policy in object-stores.md: it denies what could overwrite a commit, and only that.

AWS cannot be asked here: this keeps what its page on enforcing conditional writes says.
"""

from __future__ import annotations

import json
import re
from fnmatch import fnmatchcase
from typing import Any

import pytest

from tests.unit.sources import ROOT

PAGE = ROOT / "docs" / "object-stores.md"
FENCED = re.compile(r"```json\n(.*?)```", re.DOTALL)


def statement() -> dict[str, Any]:
    (fenced,) = FENCED.findall(PAGE.read_text(encoding="utf-8"))
    (found,) = json.loads(fenced)["Statement"]
    return dict(found)


def test_a_put_without_the_condition_is_denied_but_not_the_steps_of_a_multipart_upload() -> None:
    found = statement()
    assert (found["Effect"], found["Action"]) == ("Deny", "s3:PutObject")
    assert found["Condition"] == {
        "Null": {"s3:if-none-match": "true"},
        "Bool": {"s3:ObjectCreationOperation": "true"},
    }


@pytest.mark.parametrize(
    ("name", "concerned"),
    [
        (f"trips/_delta_log/{7:020d}.json", True),
        (f"trips__offsets/_delta_log/{7:020d}.json", True),
        (f"trips/_delta_log/{7:020d}.checkpoint.parquet", False),
        ("trips/_delta_log/_last_checkpoint", False),
        ("trips/part-00000.parquet", False),
        ("_sluice/put_if_absent/7", False),
    ],
)
def test_it_concerns_commits_only(name: str, concerned: bool) -> None:
    path = f"arn:aws:s3:::lake/warehouse/{name}"
    assert fnmatchcase(path, statement()["Resource"]) is concerned
