"""Found topics: the file beside a topic template in which a look at Kafka leaves what it found.

DAG files are read often, and ask no broker: they read this file. It is replaced as a whole, and
its list of pipelines only grows.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from sluice.errors import SettingsError, SpecError
from sluice.moves import Move
from sluice.spec_file.pipeline_names import TopicName
from sluice.strict_model import Model

LOOK = Move("topics", ("--execute",))
"""The command that looks for topics, and keeps what it finds."""


class FoundTopics(Model):
    """The topics that have a pipeline of the template, and others that were seen last."""

    version: Literal[1]
    pipelines: list[TopicName]
    left_out: list[TopicName]


def found_file(template: Path) -> Path:
    """Where the topics of a template are kept."""
    return template.with_name(f"{template.name}.topics.json")


def read_found(template: Path) -> FoundTopics:
    """The topics that were found for a template; none before the first look. Raises SpecError."""
    file = found_file(template)
    try:
        return FoundTopics.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return FoundTopics(version=1, pipelines=[], left_out=[])
    except ValidationError as problem:
        first = problem.errors()[0]
        found = f"{file}: {'.'.join(map(str, first['loc'])) or 'the file'}: {first['msg']}"
    except OSError as error:
        found = f"{file}: cannot be read: {error.strerror}"
    raise SpecError(
        f"{found}. Put the file back as Sluice wrote it, or use the Sluice that wrote it; without"
        " the file, ",
        LOOK,
        " finds the topics anew.",
    )


@contextmanager
def writing_found(template: Path) -> Iterator[None]:
    """The right to write there; another process that has it is waited for. Raises SettingsError."""
    with ExitStack() as held:
        with _writable(template):
            opened = (template.parent / ".topics.lock").open("w", encoding="utf-8")
            fcntl.flock(held.enter_context(opened), fcntl.LOCK_EX)
        yield


def write_found(template: Path, found: FoundTopics) -> None:
    """Replace the file: a reader has the one before or this one. Raises SettingsError."""
    file = found_file(template)
    draft = file.with_name(f".{file.name}.draft")
    text = json.dumps(found.model_dump(), indent=2, ensure_ascii=False)
    with _writable(template):
        with draft.open("w", encoding="utf-8") as opened:
            opened.write(f"{text}\n")
            opened.flush()
            os.fsync(opened.fileno())
        draft.replace(file)


@contextmanager
def _writable(template: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise SettingsError(
            f"{found_file(template)}: expected a folder that can be written, found:"
            f" {problem.strerror}. Run ",
            LOOK,
            " where the specs are kept, and deploy the file with them.",
        ) from problem
