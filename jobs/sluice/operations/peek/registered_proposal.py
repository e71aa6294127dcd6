"""A proposed spec of records whose schemas a registry has, which fits what it has there. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import yaml

from sluice.offsets.quantities import format_count
from sluice.operations.peek.answers import Answers
from sluice.operations.peek.proposal import format_lines, spec_text, told_samples
from sluice.operations.peek.registered_formats import Part, key_parts, value_parts
from sluice.operations.peek.registered_remarks import told_registered
from sluice.operations.peek.samples import Samples
from sluice.spec_file.formats import RegisteredFormat
from sluice.spec_file.pipeline_spec import PipelineSpec

_LONGEST = 600


def propose_registered(
    connection: str, answers: Answers, samples: Samples, compression: str
) -> str:
    """The YAML text of a spec whose columns are those of the registry's newest schemas.

    `connection` is Kafka's; `compression` was taken off the samples. Each proposal is read as
    `plan` reads it, with the schemas that the registry gives now.
    """
    raw = Part(format_lines(samples, compression))
    values = [*value_parts(answers, compression), raw] if answers.values.hold else [raw]
    refused: dict[str, None] = {}
    for parts in product(values, key_parts(answers)):
        lines = [line for part in parts for line in part.lines]
        try:
            spec = _read(answers.topic, connection, lines, parts)
        except ValueError as problem:
            refused[f"{' '.join(lines)} does not fit: {problem}"] = None
            continue
        lines, spec = _rescuing(answers.topic, connection, lines, parts, spec)
        told = [*_basis(answers, samples), *told_registered(answers, samples, spec), *refused]
        return spec_text(answers.topic, connection, map(_on_one_line, told), lines)
    raise AssertionError("no topic has records that raw bytes do not fit")


def _basis(answers: Answers, samples: Samples) -> Iterator[str]:
    if not answers.values.hold:
        yield from told_samples(samples, answers.topic)
        return
    records = format_count(len(samples.by_place), "record")
    yield f"Proposed from {records} and the newest schemas of {answers.registry}."


def _read(topic: str, connection: str, lines: Sequence[str], parts: Sequence[Part]) -> PipelineSpec:
    """The spec as `plan` has it. Raises ValueError where a registry's schema does not fit."""
    keys = yaml.load(spec_text(topic, connection, (), lines), Loader=yaml.CSafeLoader)
    readers = {source: each for part in parts for source, each in part.readers.items()}
    return PipelineSpec.model_validate(keys).with_readers(readers)


def _rescuing(
    topic: str, connection: str, lines: list[str], parts: Sequence[Part], spec: PipelineSpec
) -> tuple[list[str], PipelineSpec]:
    """With what keeps fields that no column holds, where there are such fields and it can be."""
    form = spec.formats.value
    if isinstance(form, RegisteredFormat) and form.declared.unread and not spec.rescue:
        more = [*lines, "rescue: true"]
        try:
            return more, _read(topic, connection, more, parts)
        except ValueError:
            return lines, spec
    return lines, spec


def _on_one_line(told: str) -> str:
    """A comment ends with its line."""
    found = " ".join(told.split())
    found = "".join(each if each.isprintable() else "?" for each in found)
    return found if len(found) <= _LONGEST else f"{found[:_LONGEST]}…"
