"""The audit: a part in an affected version turns it red, unless it is excepted until a day."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from pydantic import ValidationError

from local.audit.__main__ import as_json, as_text, compared
from local.audit.advisories import KEPT, Kept, read_kept
from local.audit.findings import STALE, age, findings, unused
from local.audit.locked import Part, everything, jars, packages
from local.embedded.ports import free_port

TODAY = date(2026, 11, 28)
ADVISORY = """
  - ids: [CVE-1, GHSA-1]
    ecosystem: maven
    packages: ["org.planted:planted"]
    affected: ["<1.2", ">=2.0,<2.1"]
    summary: planted
    source: https://example.org/1
"""
EXCEPTION = """
exceptions:
  - ids: [GHSA-1]
    packages: ["org.planted:planted"]
    version: "2.0"
    reason: nobody can reach it from outside
    until: 2026-12-31
"""
PLANTED = Part("jars/spark", "maven", "planted", "2.0", "org.planted")


def kept(exceptions: str = "", advisory: str = ADVISORY) -> Kept:
    return read_kept(f"looked_at: {TODAY}\nadvisories:{advisory}{exceptions}")


def test_a_planted_version_turns_it_red() -> None:
    (found,) = findings([PLANTED], kept())
    assert found.part == PLANTED
    assert found.counts(TODAY)


@pytest.mark.parametrize("version", ["1.2", "1.9", "2.1", "3.0"])
def test_a_version_outside_of_all_ranges_is_not_affected(version: str) -> None:
    assert findings([Part("x", "maven", "planted", version)], kept()) == []


def test_a_package_of_another_ecosystem_is_another_one() -> None:
    assert findings([Part("x", "pypi", "planted", "2.0")], kept()) == []


def test_an_exception_holds_for_its_version_until_its_day() -> None:
    (found,) = findings([PLANTED], kept(EXCEPTION))
    assert not found.counts(date(2026, 12, 31))
    assert found.counts(date(2027, 1, 1))
    (other,) = findings([Part("x", "maven", "planted", "2.0.1")], kept(EXCEPTION))
    assert other.counts(TODAY)


def test_an_exception_that_nothing_needs_is_named() -> None:
    assert [each.version for each in unused([], kept(EXCEPTION))] == ["2.0"]
    assert unused(findings([PLANTED], kept(EXCEPTION)), kept(EXCEPTION)) == []


def test_a_list_that_is_old_is_a_warning() -> None:
    assert age(kept(), TODAY + STALE) is None
    assert "31 days ago: look at its" in str(age(kept(), TODAY + STALE + timedelta(1)))


@pytest.mark.parametrize(
    "broken",
    [
        ADVISORY.replace('"<1.2"', '"1.2 or older"'),
        ADVISORY.replace("ecosystem: maven", "ecosystem: npm"),
        ADVISORY.replace("source: https://example.org/1", "source: hearsay"),
        ADVISORY.replace("summary", "comment"),
        ADVISORY.replace('["<1.2", ">=2.0,<2.1"]', "[]"),
    ],
)
def test_a_file_in_another_form_is_an_error(broken: str) -> None:
    with pytest.raises(ValidationError):
        kept(advisory=broken)


def test_an_exception_without_a_reason_is_an_error() -> None:
    with pytest.raises(ValidationError, match="reason"):
        kept(EXCEPTION.replace("nobody can reach it from outside", "fine"))


def test_names_of_jars_are_read() -> None:
    names = (
        "log4j-1.2-api-2.25.4.jar",
        "zstd-jni-1.5.7-17.jar",
        "kafka_2.13-4.4.0.jar",
        "spark-sql-kafka-0-10_2.13-4.2.0.jar",
        "netty-transport-native-epoll-4.2.13.Final-linux-x86_64.jar",
        "guava-33.6.0-jre.jar",
        "sluice.jar",
    )
    assert [(each.name, each.version) for each in jars(names, "x")] == [
        ("log4j-1.2-api", "2.25.4"),
        ("zstd-jni", "1.5.7-17"),
        ("kafka_2.13", "4.4.0"),
        ("spark-sql-kafka-0-10_2.13", "4.2.0"),
        ("netty-transport-native-epoll", "4.2.13.Final-linux-x86_64"),
        ("guava", "33.6.0-jre"),
    ]


def test_a_lock_is_read_by_pips_names() -> None:
    text = "Jinja2==3.1.6 \\\n    --hash=sha256:ab\n    # via x\nuvicorn[standard]==0.54.0 \\\n"
    assert [(each.name, each.version) for each in packages(text, "x")] == [
        ("jinja2", "3.1.6"),
        ("uvicorn", "0.54.0"),
    ]


def test_what_is_locked_here_includes_the_jars_inside_pyspark() -> None:
    parts = everything()
    places = {each.place for each in parts}
    assert {"requirements.txt", "jars/spark", "jars/s3", "jars/broker", "pyspark/jars"} <= places
    assert {each.group for each in parts if each.name == "netty-codec-http"} == {"io.netty"}


def test_the_kept_list_excepts_everything_that_is_affected_here() -> None:
    listed = read_kept(KEPT.read_text(encoding="utf-8"))
    found = findings(everything(), listed)
    assert [str(each.part) for each in found if each.counts(listed.looked_at)] == []
    assert unused(found, listed) == []


def test_without_osv_the_report_says_that_it_proves_less() -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    report = compared([PLANTED], kept(), TODAY, nowhere)
    assert report.without_osv is not None
    assert "OSV was not reached" in as_text(report, kept(), TODAY)
    assert json.loads(as_json(report, TODAY))["osv"] is False
    assert len(report.failures(TODAY)) == 1


def test_what_only_osv_knows_turns_it_red_and_what_both_know_is_one_finding() -> None:
    other = Part("requirements.txt", "pypi", "quiet", "1.0")
    unnamed = Part("jars/spark", "maven", "unnamed", "1.0")
    with osv([{"vulns": [{"id": "GHSA-1"}]}, {"vulns": [{"id": "PYSEC-9"}]}]) as (address, asked):
        report = compared([PLANTED, other, unnamed], kept(EXCEPTION), TODAY, address)
    assert [each["package"]["name"] for each in asked] == ["org.planted:planted", "quiet"]
    (failure,) = report.failures(TODAY)
    assert (failure.part, failure.advisory.ids) == (other, ["PYSEC-9"])
    assert len(report.found) == 2
    assert "OSV was asked; not about 1 jars" in as_text(report, kept(), TODAY)


def test_an_answer_in_another_form_counts_as_none() -> None:
    with osv([]) as (address, _):
        assert "expected 1 results" in str(compared([PLANTED], kept(), TODAY, address).without_osv)


@contextmanager
def osv(results: list[dict[str, Any]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server that answers as OSV does, and what it was asked."""
    asked: list[dict[str, Any]] = []

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.extend(
                json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
            )
            body = json.dumps({"results": results}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1/querybatch", asked
    finally:
        server.shutdown()
        server.server_close()
