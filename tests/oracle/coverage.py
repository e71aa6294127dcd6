"""The offsets of each partition that something covers, as merged half-open intervals."""

from __future__ import annotations

from collections import defaultdict

from tests.oracle.offsets_rows import OffsetsRow

Place = tuple[str, int]
Interval = tuple[int, int]


class Coverage:
    def __init__(self) -> None:
        self._intervals: dict[Place, list[Interval]] = defaultdict(list)
        self.places: set[Place] = set()

    def add(self, place: Place, start: int, end: int) -> None:
        self.places.add(place)
        if start >= end:
            return
        apart = [i for i in self._intervals[place] if i[1] < start or end < i[0]]
        touching = [i for i in self._intervals[place] if not (i[1] < start or end < i[0])]
        merged = (min([start, *(s for s, _ in touching)]), max([end, *(e for _, e in touching)]))
        self._intervals[place] = sorted([*apart, merged])

    def meets(self, row: OffsetsRow) -> bool:
        """Whether it covers any offset of the row's range."""
        known = self._intervals.get(row.place, ())
        return any(max(s, row.start_offset) < min(e, row.end_offset) for s, e in known)

    def covers(self, place: Place, start: int, end: int) -> bool:
        known = self._intervals.get(place, ())
        return start >= end or any(s <= start and end <= e for s, e in known)
