"""Ruled rows: records whose rows break a rule that others gave the table, such as a CHECK.

Delta refuses a whole batch for one of them, so they are put aside before: total, and named.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sluice.spec_file.table_rules import TableRule

BROKEN = "_sluice_broken"


def broken_rule(rules: Sequence[TableRule]) -> Column:
    """The first rule that a row of the data table breaks, in words; null for none.

    To Delta, too, a constraint without an answer is broken.
    """
    held = [(F.coalesce(F.expr(each.sql), F.lit(False)), each.broken) for each in rules]
    return F.coalesce(*(F.when(~kept, F.lit(why)) for kept, why in held))


class Carried:
    """The records beside their rows, so that both are known at once: the row's rules, and what
    goes to quarantine.
    """

    def __init__(self, decoded: DataFrame) -> None:
        # No column of a table has this name.
        self._name = f"_sluice_{uuid.uuid4().hex}"
        columns = [F.col(f"`{name}`") for name in decoded.columns]
        self.column = F.struct(*columns).alias(self._name)

    def judged(self, rows: DataFrame, rules: Sequence[TableRule]) -> DataFrame:
        """The records again, with what their row breaks in column BROKEN."""
        return rows.select(F.col(f"{self._name}.*"), broken_rule(rules).alias(BROKEN))
