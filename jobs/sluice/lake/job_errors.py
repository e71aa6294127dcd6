"""Job errors: how a job under spark-submit reports to its task what went wrong.

A line on stderr, `SLUICE-ERROR kind: text`, another for each further line, `SLUICE-ERROR | text`,
and an exit code: 1 failed, worth a retry; 3 failed, the operator must decide. The mark bears a word
that the task gives its job, as Spark may log a line that a record holds.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from sluice.broker.client_logs import silence_clients
from sluice.errors import SluiceError

FAILED, REFUSED = 1, 3
# What an exception may carry of an error: the first lines say what, the last ones what to do.
_FIRST_LINES, _LAST_LINES, _LONGEST_LINE = 30, 10, 2000
_MARK = "SLUICE-ERROR"
# The variable in a job's environment that holds its word.
WORD = "SLUICE_REPORT_WORD"
# `2026-11-24 15:04:05,123 ERROR sluice.ingest: …` of Python, `26/11/24 15:04:05 WARN …` of Spark.
_LEVEL = re.compile(r"\d{2,4}[-/]\d\d[-/]\d\d \d\d:\d\d:\d\d\S* (?P<level>[A-Z]+) ")
_LEVELS = {"WARN": logging.WARNING, "FATAL": logging.CRITICAL, "TRACE": logging.DEBUG}


@contextmanager
def reporting_errors(name: str, word: str = "") -> Iterator[None]:
    """Log to stderr; any failure becomes lines that the task finds, and an exit code.

    `word` is what the task gave.
    """
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    silence_clients()
    log = logging.getLogger(name)
    try:
        yield
    except SluiceError as problem:
        _report(log, problem, word)
        sys.exit(FAILED if problem.retryable else REFUSED)
    except Exception as problem:
        log.exception("An error that Sluice does not know")
        _report(log, problem, word)
        sys.exit(FAILED)


def _mark(word: str) -> str:
    return f"{_MARK}-{word}" if word else _MARK


def _report(log: logging.Logger, problem: Exception, word: str) -> None:
    mark = _mark(word)
    first, *more = str(problem).splitlines() or [""]
    log.error("%s %s: %s", mark, type(problem).__name__, first)
    for line in filter(str.strip, more):
        log.error("%s | %s", mark, line)


class ReportedError:
    """What a job's output reports, read line by line; the last report counts."""

    def __init__(self, word: str = "") -> None:
        # The first mark of a line is ours; another one may be a record's text.
        self._report = re.compile(rf"{_mark(word)} (?:(?P<kind>\w+):|\|) (?P<text>.*)")
        self._lines: list[str] = []
        self._left_out = 0

    def __bool__(self) -> bool:
        return bool(self._lines)

    def __str__(self) -> str:
        told = list(self._lines)
        if self._left_out:
            told.insert(_FIRST_LINES, f"… {self._left_out} more lines, in the log …")
        return "\n".join(told)

    def read(self, line: str) -> None:
        """Read the next line of the output; most lines report nothing."""
        found = self._report.search(line)
        if found and found["kind"]:
            self._lines, self._left_out = [], 0
            self._add(f"{found['kind']}: {found['text']}")
        elif found and self:
            self._add(found["text"])

    def _add(self, line: str) -> None:
        if len(self._lines) == _FIRST_LINES + _LAST_LINES:
            del self._lines[_FIRST_LINES]
            self._left_out += 1
        self._lines.append(line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} …")


class LineLevels:
    """The level of each line of a job's output; lines without one belong to the line before."""

    def __init__(self) -> None:
        self._level = logging.INFO

    def of(self, line: str) -> int:
        """The level of the next line, as a number of `logging`."""
        if found := _LEVEL.match(line):
            word = found["level"]
            known = _LEVELS.get(word) or logging.getLevelNamesMapping().get(word)
            self._level = known or logging.INFO
        return self._level
