"""Many topics, a table each: on a real broker, from the first topic to one that is gone."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sluice.errors import ResetNeeded, TooManyQuarantined
from sluice.operations.reset.targets import named_target

from local.embedded.broker import Broker
from tests.oracle import read_truth
from tests.worlds.command_line import run_main
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import delete_topic, numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

JSON = {"type": "json", "schema": "n INT"}


class Template:
    """A template `all.yaml` for the topics that begin so, and the pipelines that it makes."""

    def __init__(self, installed: Installed, prefix: str, **keys: Any) -> None:
        self.installed = replace(installed, name="all", topics=[])
        self.file = self.installed.spec_file
        installed.spec_file.unlink()
        self.installed.write_spec(
            pipeline="{topic}",
            table="{topic}",
            topic_pattern=rf"{prefix}[.-].*",
            consumer_group="sluice-{topic}",
            **keys,
        )

    def sluice(self, *words: str) -> subprocess.CompletedProcess[str]:
        return run_main(["sluice", *words], self.installed.environment, self.installed.folder)

    def look(self, *options: str) -> dict[str, Any]:
        """What a look of all templates finds."""
        done = self.sluice("topics", "--json", *options)
        (found,) = json.loads(done.stdout)["templates"]
        assert done.returncode == (1 if found["refused"] else 0), done.stderr
        return dict(found)

    def found(self) -> list[str]:
        self.look("--execute")
        file = self.file.with_name("all.yaml.topics.json")
        return list(json.loads(file.read_text(encoding="utf-8"))["pipelines"])

    def of(self, topic: str) -> Made:
        """The pipeline of a topic."""
        name = topic.replace(".", "_").replace("-", "_")
        return Made(**{**vars(self.installed), "name": name, "topics": [topic]})


class Made(Installed):
    """A pipeline that a template has made."""

    @property
    def group(self) -> str:
        return f"sluice-{self.topics[0]}"

    def exact(self, rows: int) -> None:
        """The oracle and `sluice verify` accept its tables."""
        assert self.judge().facts.rows == rows
        done = self.sluice("verify")
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def prefix(topic: Topic) -> str:
    """What the names of this test's topics begin with."""
    return topic()


@pytest.fixture
def template(pipeline: Pipelines, prefix: str) -> Template:
    return Template(pipeline(prefix), prefix, format=JSON)


def send(broker: Broker, topic: str, count: int, first: int = 0) -> None:
    produce(broker.bootstrap, topic, [b'{"n": %d}' % n for n in range(first, first + count)])


def test_topics_get_a_pipeline_and_a_table_one_after_the_other(
    broker: Broker, topic: Topic, template: Template, prefix: str
) -> None:
    assert template.look("--execute")["pipelines"] == {}
    names = [f"{prefix}.{each}" for each in ("eu", "us-west", "asia")]
    for count, name in enumerate(names, 1):
        topic(2, name=name)
        send(broker, name, count)
        # Only a look that is told to keeps what it finds.
        assert template.look()["new"] == [name]
        assert template.look("--execute")["new"] == [name]
        assert template.found() == sorted(names[:count])
        template.of(name).run()
        for rows, known in enumerate(names[:count], 1):
            template.of(known).exact(rows)
    listed = template.sluice("list")
    assert f"all.yaml (topic {prefix}.eu)" in listed.stdout
    for words in ("plan", "status", "history"):
        assert template.of(names[1]).sluice(words).returncode == 0
    preview = template.of(names[0]).sluice("reset", "--to-earliest")
    assert preview.returncode == 0
    assert "Nothing was changed" in preview.stdout


def test_a_topic_that_is_deleted_and_made_anew_stops_its_own_pipeline_and_goes_on_after_a_reset(
    broker: Broker, topic: Topic, template: Template, prefix: str
) -> None:
    stays, goes = topic(name=f"{prefix}.stays"), topic(name=f"{prefix}.goes")
    for each in (stays, goes):
        send(broker, each, 3)
    template.found()
    for each in (stays, goes):
        template.of(each).run()
    before = read_truth(broker.bootstrap, [goes])

    delete_topic(broker.bootstrap, goes)
    assert template.look("--execute")["gone"] == [goes]
    assert template.found() == sorted([stays, goes]), "it keeps its pipeline"
    with pytest.raises(ResetNeeded, match="no such partition"):
        template.of(goes).run()
    assert template.sluice("status").returncode == 0
    send(broker, stays, 2, first=3)
    template.of(stays).run()
    template.of(stays).exact(5)

    topic(name=goes)
    send(broker, goes, 4)
    assert template.look("--execute")["gone"] == []
    anew = template.of(goes)
    with pytest.raises(ResetNeeded, match="created anew"):
        anew.run()
    anew.open().reset(named_target("to-earliest", "", []), "made anew", "test", "pytest")
    anew.run()
    # A group knows topics by name alone: the oracle would hold it against the old topic's cursor.
    assert anew.judge(remembered=before, group=None).facts.rows == 7
    assert anew.sluice("verify").returncode == 0


def test_a_topic_with_records_of_another_format_stops_its_own_table_only(
    broker: Broker, topic: Topic, template: Template, prefix: str
) -> None:
    good, bad = topic(name=f"{prefix}.good"), topic(name=f"{prefix}.bad")
    send(broker, good, 3)
    produce(broker.bootstrap, bad, numbered(20))
    template.found()
    with pytest.raises(TooManyQuarantined):
        template.of(bad).run()
    template.of(good).run()
    template.of(good).exact(3)
    send(broker, good, 2, first=3)
    template.of(good).run()
    template.of(good).exact(5)


def test_refused_topics_are_told_by_the_look_by_check_and_by_status(
    broker: Broker, topic: Topic, pipeline: Pipelines, prefix: str
) -> None:
    template = Template(pipeline(prefix), prefix, format=JSON, most_pipelines=2)
    first = topic(name=f"{prefix}.a-b")
    assert template.found() == [first]
    # Kafka itself refuses a topic with an underscore where another has a dot.
    for name in ("a.b", "b", "c"):
        topic(name=f"{prefix}.{name}")
    assert template.found() == [first, f"{prefix}.b"]
    done = template.sluice("topics")
    name = first.replace(".", "_").replace("-", "_")
    told = (
        f"most_pipelines: expected at most 2, found 3 topics; without a pipeline: topic {prefix}.c",
        f"topic {prefix}.a.b: found the name {name!r}, which the topic {first} already has;",
    )
    for said in (
        done.stderr,
        template.sluice("check").stderr,
        template.sluice("status").stdout,
    ):
        for each in told:
            assert f"all.yaml: {each}" in said
    assert (done.returncode, template.sluice("check").returncode) == (1, 1)

    # What the messages say.
    template.installed.write_spec(most_pipelines=3, except_topics=[f"{prefix}.a.b"])
    assert template.found() == [first, f"{prefix}.b", f"{prefix}.c"]
    assert template.sluice("check").returncode == 0


def test_a_broker_that_does_not_answer_changes_nothing(
    topic: Topic, template: Template, prefix: str
) -> None:
    name = topic(name=f"{prefix}.eu")
    assert template.found() == [name]
    silent = replace(template.installed, bootstrap="127.0.0.1:1")
    done = run_main(["sluice", "topics", "--execute"], silent.environment, silent.folder)
    assert done.returncode == 1
    assert "127.0.0.1:1" in done.stderr
    assert template.found() == [name]


def test_a_file_that_is_no_template_is_told(template: Template, tmp_path: Path) -> None:
    assert template.sluice("topics", str(template.file)).returncode == 0
    broken = template.file.with_name("broken.yaml")
    broken.write_text("{version: 1}")
    for file, told in (
        (tmp_path / "gone" / "no.yaml", f"{tmp_path / 'gone'}: no such folder"),
        (tmp_path / "no.yaml", "no.yaml: expected a spec with {topic} in pipeline and table"),
        (broken, "broken.yaml: pipeline: missing"),
    ):
        done = template.sluice("topics", str(file))
        assert done.returncode == 1
        assert told in done.stderr
