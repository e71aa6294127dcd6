"""The oracle: judges Kafka, the tables and the machine, and shares no code with the product."""

from tests.oracle.cleanliness import java_processes, marked_processes, no_orphans, no_secret
from tests.oracle.kafka_truth import KafkaTruth, read_truth
from tests.oracle.state import StateRules
from tests.oracle.state_verdict import judge_state
from tests.oracle.verdict import Verdict, assert_exact, judge
from tests.oracle.violation import Unjudgeable, Violation

__all__ = [
    "KafkaTruth",
    "StateRules",
    "Unjudgeable",
    "Verdict",
    "Violation",
    "assert_exact",
    "java_processes",
    "judge",
    "judge_state",
    "marked_processes",
    "no_orphans",
    "no_secret",
    "read_truth",
]
