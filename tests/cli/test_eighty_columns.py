"""In 80 columns, without colours and in a pipe: no batch, partition, offset or name is ever cut.

With short names every line fits; with the longest ones the terminal itself folds, and cuts nothing.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys

import pytest
from sluice.cli import command_line

from local.embedded.broker import Broker
from tests.conftest import topic_factory
from tests.worlds.pipelines import Installed, no_spark
from tests.worlds.processes import SLUICE
from tests.worlds.records import produce
from tests.worlds.terminal import in_terminal

pytestmark = pytest.mark.integration

LONG = "a.topic.whose-name_is.long-" * 8
NAMES = {"short": ("eighty", "eighty"), "long": (LONG[:200], "p" * 60)}
GOOD = [json.dumps({"id": number, "text": "word " * 30}).encode() for number in range(3)]
_STYLE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module", params=NAMES)
def orders(
    request: pytest.FixtureRequest,
    broker: Broker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Installed:
    """A landed batch with a record in quarantine, and news in both partitions."""
    topic, name = NAMES[request.param]
    topic_factory(broker)(2, name=topic, retention_ms=-1)
    folder = tmp_path_factory.mktemp(request.param)
    made = Installed(folder, broker.bootstrap, [topic], no_spark, name=name, written=True)
    form = {"type": "json", "schema": "id BIGINT, text STRING"}
    made.write_spec(format=form, quarantine={"max_ratio": 1.0}, description="a pipeline")
    produce(broker.bootstrap, topic, GOOD, 0)
    produce(broker.bootstrap, topic, [*GOOD, b"no object " * 20], 1)
    made.run()
    for partition in (0, 1):
        produce(broker.bootstrap, topic, GOOD, partition)
    return made


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def printed(orders: Installed, words: list[str], out: io.StringIO, **env: str) -> str:
    with pytest.MonkeyPatch.context() as patched:
        for key, value in {**orders.environment, "COLUMNS": "80", **env}.items():
            patched.setenv(key, value)
        patched.setattr(sys, "stdout", out)
        # Some end with an exit code of their own.
        with contextlib.suppress(SystemExit):
            command_line(words, standalone_mode=False)
    return out.getvalue()


COMMANDS = {
    "status NAME": ["TOPIC[0]", "TOPIC[1]", "forward-1-1", "NAME"],
    "status": ["NAME", "forward-1-1"],
    "list": ["NAME", "TOPIC", "NAME.yaml"],
    "plan NAME": ["NAME", "TOPIC[0]", "TOPIC[1]", "forward-1-2"],
    "history NAME": ["NAME", "forward-1-1"],
    "verify NAME": ["NAME", "accounted"],
    "reset NAME --shift-by -1": ["NAME", "TOPIC[0]", "TOPIC[1]"],
    "reprocess NAME --batch forward-1-1 --dry-run": ["TOPIC[0]", "TOPIC[1]", "backfill-1-1"],
    "backfill NAME --from 2020-01-01 --to 2100-01-01 --dry-run": ["TOPIC[1]", "backfill-1-1"],
    "recover NAME": ["NAME"],
    "quarantine list NAME": ["TOPIC[1]", "TOPIC[1]@3"],
    "quarantine show NAME": ["TOPIC[1]@3", "forward-1-1"],
    "quarantine drop NAME --all": ["TOPIC[1]", "[3, 4)", "forward-1-1"],
    "quarantine replay NAME --all --dry-run": ["TOPIC[1]", "backfill-1-1"],
    "peek TOPIC": ["TOPIC[0]@5", "TOPIC[1]@6"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_what_one_must_read_or_copy_is_whole(command: str, orders: Installed) -> None:
    topic = orders.topics[0]
    words, *needed = (
        text.replace("TOPIC", topic).replace("NAME", orders.name)
        for text in (command, *COMMANDS[command])
    )
    shown = _STYLE.sub("", printed(orders, words.split(), Terminal()))
    plain = printed(orders, words.split(), Terminal(), NO_COLOR="1")
    piped = printed(orders, words.split(), io.StringIO())
    assert "\x1b[3" not in plain
    assert "\x1b" not in piped
    for text in (shown, plain, piped):
        assert [each for each in needed if each not in text] == []
        assert not re.search(r"…(?! \(\d+ bytes\)|\S? it|\s)", text)
    if len(topic) < 80 and orders.name == topic:
        table = [line for line in shown.splitlines() if re.search(r"\S {2,}\S", line)]
        assert [line for line in table if len(line.rstrip()) > 80] == []


def test_a_real_terminal_shows_the_same(orders: Installed) -> None:
    """A terminal of the command's own, of 80 columns."""
    with in_terminal(
        [str(SLUICE), "status", orders.name], orders.folder, orders.environment
    ) as far:
        code, _ = far.end()
        shown = _STYLE.sub("", far.shown)
    assert code == 0
    for needed in (f"{orders.topics[0]}[0]", f"{orders.topics[0]}[1]", "forward-1-1", orders.name):
        assert needed in shown
