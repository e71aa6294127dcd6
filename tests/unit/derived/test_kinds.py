"""Kinds: which paths and patterns are written so that Spark understands them."""

from __future__ import annotations

import pytest
from sluice.derived.kinds import FORM, PATH, READ_FORM, Kind
from sluice.derived.written_values import text_of


def fits(kind: Kind, text: str) -> bool:
    return kind.fits(text_of(text))


@pytest.mark.parametrize(
    "path",
    [
        *("$", "$.a", "$.a.b", "$[0]", "$[0][12]", "$.a[0].b", "$[*]", "$.a[*].b", "$.a[*][*]"),
        *("$['log.level']", "$.event-type", "$.@type", "$['a b']", "$['a']['b'].c", "$.x y", "$.ü"),
        *("$.a*", "$['*a']", "$['a[0]']", "$.a]", '$.a"b', "$.a'b", "$.1", "$._a", "$.a "),
    ],
)
def test_a_path_that_spark_follows_fits(path: str) -> None:
    assert fits(PATH, path)


@pytest.mark.parametrize(
    "path",
    [
        *("", "a", ".a", "$a", "$.", "$..a", "$.*", "$.*a", "$.a.*", "$['*']", "$.a['*']", "$['']"),
        *(
            '$["a"]',
            "$[a]",
            "$[-1]",
            "$[0",
            "$['a",
            "$[]",
            "$. a",
            "$[' a']",
            "$ .a",
            "$ ",
            "$[ 0]",
        ),
        *(
            "$[0:2]",
            "$[?(@.a)]",
            "$[1234567890]",
            "$.a..b",
            "$.a[",
            "$['a']b",
            "$.\ta",
            "$['a''b']",
        ),
    ],
)
def test_a_path_by_which_spark_finds_nothing_does_not_fit(path: str) -> None:
    assert not fits(PATH, path)
    assert "\"$['log.level']\"" in PATH.words


@pytest.mark.parametrize("kind", [FORM, READ_FORM], ids=["written", "read"])
def test_a_pattern_has_known_letters_each_as_often_as_known(kind: Kind) -> None:
    for form in ("yyyy-MM-dd", "yyyyMMdd'T'HHmmss.SSSSSS", "dd.MM.yyyy HH:mm", "yyyy/MM"):
        assert fits(kind, form)
    for form in ("", "yyyyyy", "MMMM", "YYYY", "z", "EEE", "SSSS", "a", "'T", "\n", "G"):
        assert not fits(kind, form)


def test_only_what_is_read_may_have_names_of_months_and_offsets() -> None:
    for form in ("d MMM yyyy HH:mm:ss 'GMT'", "yyyy-MM-dd'T'HH:mmXXX", "M/d/yyyy H:mm X"):
        assert fits(READ_FORM, form)
        assert not fits(FORM, form)
