"""The command line: `sluice COMMAND [PIPELINE] [--json]`, without Airflow."""

from __future__ import annotations

import atexit
import gc
import logging
import os
import signal
import sys
from importlib import import_module

import click

from sluice.broker.client_logs import silence_clients
from sluice.cli.groups import HelpfulGroup
from sluice.cli.output_pipe import allow_readers_to_leave
from sluice.errors import SluiceError

# Each is the function of its name in the file of its name; only `list` is a word of Python.
_FUNCTIONS = {"list": "list_pipelines"}
COMMANDS = (
    "backfill",
    "check",
    "history",
    "jars",
    "list",
    "maintain",
    "peek",
    "plan",
    "produce",
    "quarantine",
    "rebuild",
    "recover",
    "reprocess",
    "reset",
    "run",
    "schema",
    "status",
    "topics",
    "verify",
)


class Commands(HelpfulGroup):
    """The commands; only the requested one is imported."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names, as help lists them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name; None where there is none."""
        if cmd_name not in COMMANDS:
            return None
        file = import_module(f"sluice.cli.commands.{cmd_name}")
        found: click.Command = getattr(file, _FUNCTIONS.get(cmd_name, cmd_name))
        return found


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("-v", "--verbose", is_flag=True, help="Log every step.")
@click.option(
    "--traceback",
    is_flag=True,
    expose_value=False,
    help="Show where an unexpected error comes from.",
)
@click.version_option(package_name="sluice")
def command_line(verbose: bool) -> None:
    """Kafka topics into Delta Lake in exact batches.

    Settings: SLUICE_WAREHOUSE (a local folder, or s3a://…), SLUICE_PIPELINES (the folder of specs)
    and AIRFLOW_CONN_<ID>, a Kafka connection in Airflow's JSON form.

    To begin: `sluice peek TOPIC` proposes a spec, `sluice plan PIPELINE` shows what would be read,
    `sluice run PIPELINE` reads it. A pipeline's cursor is the next offset to read.

    Exit codes: 0 done, or nothing to do; 1 refused or failed, the message says what to do; 2 usage;
    130 interrupted.

    Completion of commands, options and pipelines: `eval "$(_SLUICE_COMPLETE=bash_source sluice)"`;
    zsh_source and fish_source are for these shells.
    """
    level = logging.INFO if verbose else logging.WARNING
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("py4j").setLevel(logging.WARNING)
    if not verbose:
        silence_clients()


def main() -> None:
    """Run a command; every error becomes a message and exit code 1."""
    _start_quickly()
    allow_readers_to_leave()
    # No interrupted step needs cleaning up: end at once, as on SIGTERM. After `nohup`, or a shell
    # script's `&`, Ctrl-C is ignored, and stays so.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        command_line(prog_name="sluice", standalone_mode=True)
    except SluiceError as problem:
        click.echo(f"{type(problem).__name__}: {problem}", err=True)
        sys.exit(1)
    except Exception as problem:
        if "--traceback" in sys.argv:
            raise
        click.echo(
            f"unexpected {type(problem).__name__}: {problem}\nThis is a fault in Sluice. Please"
            " report it with the output of: sluice --traceback …",
            err=True,
        )
        sys.exit(1)


def _start_quickly() -> None:
    # A start makes many objects and next to no garbage; Python would search for it many times.
    gc.set_threshold(100_000)
    atexit.register(gc.freeze)
    # numpy would start a thread on each core for linear algebra, which is not used here.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
