"""Error text: what an error of delta-rs says, in one line."""

from __future__ import annotations

import re

# Between the parts of an error that came from an object store: a new line, colours, an arrow.
_CAUSE = re.compile(r"\s*\n\s*(?:\x1b\[\d+m|↳|\s)+")
# The first frame, where RUST_BACKTRACE is set.
_BACKTRACE = re.compile(r"\n\s+0: ")
# An answer's document: AWS repeats in it what was sent, a session token among it.
_DOCUMENT = re.compile(r"<\?xml|<Error>")
_ANSWER = re.compile(r"<Code>(\w+)</Code>")
# The code of S3, and that of the service that gives temporary keys; and what Java tells instead.
_EXPIRED = re.compile(r"\bExpiredToken(?:Exception)?\b|The provided token has expired")


def first_line(problem: Exception) -> str:
    """An error without the backtrace of delta-rs; an object store's also with what it answered."""
    text = _BACKTRACE.split(str(problem), maxsplit=1)[0]
    first, *causes = _CAUSE.split(text)
    if len(causes) == 0 and not _DOCUMENT.search(text):
        return text.partition("\n")[0].removesuffix(".")
    said = _DOCUMENT.split(": ".join([first, *causes]), maxsplit=1)[0]
    answer = _ANSWER.search(text)
    said = " ".join(said.split()).rstrip(": .")
    return naming_expired_keys(f"{said}: {answer[1]}" if answer else said)


def naming_expired_keys(said: str, whole: str = "") -> str:
    """An error in one line, with what to do where the keys of an object store have expired.

    `whole` is the text that it was taken from.
    """
    if not _EXPIRED.search(whole or said):
        return said
    return (
        f"{said}: the keys have expired. Renew the connection sluice_warehouse; a Spark Connect"
        " server has keys of its own, in its environment"
    )
