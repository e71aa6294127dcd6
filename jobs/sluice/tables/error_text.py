"""Error text: what an error of delta-rs says, in one line."""

from __future__ import annotations

import re

# Between the parts of an error that came from an object store: a new line, colours, an arrow.
_CAUSE = re.compile(r"\s*\n\s*(?:\x1b\[\d+m|↳|\s)+")
_ANSWER = re.compile(r"<Code>(\w+)</Code>")


def first_line(problem: Exception) -> str:
    """An error without the backtrace of delta-rs; an object store's also with what it answered."""
    text = str(problem)
    first, *causes = _CAUSE.split(text)
    if len(causes) == 0 and "<?xml" not in text:
        return text.partition("\n")[0].removesuffix(".")
    said = ": ".join([first, *causes]).partition("<?xml")[0]
    answer = _ANSWER.search(text)
    said = " ".join(said.split()).rstrip(": .")
    return f"{said}: {answer[1]}" if answer else said
