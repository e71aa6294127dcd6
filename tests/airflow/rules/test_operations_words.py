"""docs/operations.md: what is bold there is a word of Airflow's forms, or of ours in them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import airflow
from sluice.scheduling.reset_form import reset_params
from sluice.scheduling.run_params import maintenance_params, run_params

from tests.worlds.recipes import PAGE

BOLD = re.compile(r"\*\*(.+?)\*\*")
SIGNPOSTS = {"You see", "You do", "What happens."}
WORDS = Path(airflow.__file__).parent / "ui/dist/i18n/locales/en/components.json"


def texts(words: object) -> Iterator[str]:
    if isinstance(words, dict):
        for each in words.values():
            yield from texts(each)
    else:
        yield str(words)


def test_every_bold_word_is_on_a_form() -> None:
    ours = [*run_params("a").values(), *reset_params(["a"], "a").values()]
    ours += maintenance_params(["a"]).values()
    on_forms: set[str | None] = set(texts(json.loads(WORDS.read_text(encoding="utf-8"))))
    on_forms |= {each.schema.get(part) for each in ours for part in ("title", "section")}
    bold = set(BOLD.findall(PAGE.read_text(encoding="utf-8")))
    assert len(bold) > len(SIGNPOSTS)
    assert bold - on_forms == SIGNPOSTS
