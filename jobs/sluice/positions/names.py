"""Names of positions, the one table: what spec, command line and trigger form call them. Pure.

What a name means is said by `spec.starts` for a start, by `reset.targets` for a reset.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PositionName:
    """One position, by all its names; those that are empty are not offered there.

    `start` is how a spec writes it. `target` is the option of `sluice reset` and the target of its
    form, with `help` and `description`; where it takes a value, `metavar` stands for that on the
    command line and `parameter` has it in the form. It takes several where it is `repeatable`. It
    can be for some topics only, unless it is about single partitions or the whole table anyway.
    """

    start: str = ""
    target: str = ""
    help: str = ""
    metavar: str = ""
    parameter: str = ""
    description: str = ""
    repeatable: bool = False
    of_some_topics: bool = True

    @property
    def key(self) -> str:
        """The word or the key that names it in a spec."""
        return self.start.strip("{").partition(":")[0]


TO_OFFSETS, SKIP = "to-offsets", "skip"
NAMES = (
    PositionName(
        start="earliest", target="to-earliest", help="All that Kafka still holds, once more."
    ),
    PositionName(start="latest", target="to-latest", help="After all that can be read now."),
    PositionName(
        target="to-table",
        help="After a RESTORE: where the rows end that the table still holds.",
        of_some_topics=False,
    ),
    PositionName(
        start="{timestamp: …}",
        target="to-datetime",
        metavar="TIME",
        help="First record at or after it. [UTC]",
        parameter="moment",
        description="The first record at or after this moment.",
    ),
    PositionName(
        target="by-duration",
        metavar="PT1H",
        help="As --to-datetime, this long ago.",
        parameter="duration",
        description="Records from this long ago on: `PT1H`, `P1DT12H`.",
    ),
    PositionName(
        target="shift-by",
        metavar="N",
        help="N offsets forward; back with -N.",
        parameter="shift",
        description="This many offsets forward; back with a minus.",
    ),
    PositionName(
        start="{offsets: {topic: {partition: offset}}}",
        target=TO_OFFSETS,
        metavar="'TOPIC[N]=OFFSET'",
        help="This partition to this offset; the others stay. Repeatable.",
        parameter="positions",
        description="One position per line: `flights[0]=120`.",
        repeatable=True,
        of_some_topics=False,
    ),
    PositionName(
        start="{group: …}",
        target="to-group",
        metavar="GROUP",
        help="Where a consumer group stands.",
        parameter="group",
        description="Where this consumer group stands.",
    ),
    PositionName(
        target=SKIP,
        metavar="'TOPIC[N]@OFFSET'",
        help="Pass over this one record only. Repeatable.",
        parameter="records",
        description="Records never to read, one per line: `flights[0]@120`.",
        repeatable=True,
        of_some_topics=False,
    ),
    PositionName(start="{checkpoint: folder}"),
    PositionName(start="{delta_ingest: {table: …, app_id: …}}"),
)
STARTS = tuple(each for each in NAMES if each.start)
TARGETS = {each.target: each for each in NAMES if each.target}
