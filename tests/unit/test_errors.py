"""Errors form one tree, which is printed at the top of its file and tells the next move."""

from __future__ import annotations

import inspect
import re

import pytest
import sluice.errors
from sluice.errors import SluiceError, as_lines

PRINTED = re.findall(r"^[├└]── (\w+) +(.+)$", sluice.errors.__doc__ or "", re.MULTILINE)
DEFINED = {
    name: each
    for name, each in inspect.getmembers(sluice.errors, inspect.isclass)
    if issubclass(each, SluiceError)
}


def test_the_printed_tree_is_the_tree() -> None:
    assert {name for name, _ in PRINTED} == DEFINED.keys() - {"SluiceError"}
    assert all(each.__mro__[1] is SluiceError for n, each in DEFINED.items() if n != "SluiceError")


@pytest.mark.parametrize(("name", "move"), PRINTED)
def test_what_is_said_to_be_retried_is_retryable(name: str, move: str) -> None:
    found = DEFINED[name]
    if move.startswith("retry"):
        assert found.retryable
    if move.startswith(("fix", "decide")) or "reset" in move:
        assert not found.retryable


def test_failed_and_unknown_are_two_classes() -> None:
    failed, unknown = DEFINED["CommitFailed"], DEFINED["CommitUnknown"]
    assert not issubclass(failed, unknown)
    assert not issubclass(unknown, failed)


def test_every_class_says_what_it_means() -> None:
    for each in DEFINED.values():
        assert inspect.getdoc(each)


def test_findings_have_a_line_each() -> None:
    assert str(as_lines(["one", "two"])) == "one\ntwo"
    assert str(as_lines(iter([]))) == ""
