"""Position names: one table of what the spec, command line and trigger form call them. Pure.

`spec_file.starts` defines what a name means for a start, `reset.targets` what it means for a reset.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PositionName:
    """All names of one position; where a name is empty, the position is not offered.

    `start` is how a spec writes it. `target` is the option of `sluice reset` and the target of its
    form, with `help` and `description`; where it takes a value, `metavar` stands for that on the
    command line, and in the form `parameter` holds it, under `title`; `{topic}` in its description
    stands for a topic. A `repeatable` one takes several values. It can be limited to some topics,
    unless it names single partitions or concerns the whole table, and goes `on_new_cluster` unless
    it leans on offsets of the old one. One that is `moving` means another offset with every new
    record.
    """

    start: str = ""
    target: str = ""
    help: str = ""
    metavar: str = ""
    parameter: str = ""
    title: str = ""
    description: str = ""
    repeatable: bool = False
    of_some_topics: bool = True
    moving: bool = False
    on_new_cluster: bool = True

    @property
    def key(self) -> str:
        """The word or the key that names it in a spec."""
        return self.start.strip("{").partition(":")[0]


TO_OFFSETS, SKIP = "to-offsets", "skip"
NAMES = (
    PositionName(
        start="earliest", target="to-earliest", help="Everything that Kafka still holds, again."
    ),
    PositionName(
        start="latest", target="to-latest", help="The end of what can be read now.", moving=True
    ),
    PositionName(
        target="to-table",
        help="The end of the rows in a table that was restored or put back.",
        of_some_topics=False,
        on_new_cluster=False,
    ),
    PositionName(
        start="{timestamp: …}",
        target="to-datetime",
        metavar="TIME",
        help="First record at or after it. [UTC]",
        parameter="moment",
        title="Moment, in UTC",
        description="Start at the first record at or after this moment.",
    ),
    PositionName(
        target="by-duration",
        metavar="PT1H",
        help="Records from this long ago on.",
        parameter="duration",
        title="Duration",
        description="How far back from now: `PT1H` is one hour, `P1DT12H` a day and a half.",
        moving=True,
    ),
    PositionName(
        target="shift-by",
        metavar="N",
        help="N offsets forward; back with -N.",
        parameter="shift",
        title="Offsets to move",
        description="This many offsets forward; a negative number goes back.",
        on_new_cluster=False,
    ),
    PositionName(
        start="{offsets: {topic: {partition: offset}}}",
        target=TO_OFFSETS,
        metavar="'TOPIC[N]=OFFSET'",
        help="This partition to this offset; the others stay. Repeatable.",
        parameter="positions",
        title="Positions",
        description="One position per line: `{topic}[0]=120`.",
        repeatable=True,
        of_some_topics=False,
    ),
    PositionName(
        start="{group: …}",
        target="to-group",
        metavar="GROUP",
        help="The committed offsets of a consumer group.",
        parameter="group",
        title="Consumer group",
        description="The committed offsets of this consumer group.",
    ),
    PositionName(
        target=SKIP,
        metavar="'TOPIC[N]@OFFSET'",
        help="Skip this one record only. Repeatable.",
        parameter="records",
        title="Records",
        description="Records that must never be read, one per line: `{topic}[0]@120`.",
        repeatable=True,
        of_some_topics=False,
        on_new_cluster=False,
    ),
    PositionName(start="{checkpoint: folder}"),
    PositionName(start="{delta_ingest: {table: …, app_id: …}}"),
)
STARTS = tuple(each for each in NAMES if each.start)
TARGETS = {each.target: each for each in NAMES if each.target}
