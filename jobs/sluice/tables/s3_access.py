"""S3 access: how a warehouse in a bucket is reached, as one Airflow connection says it.

It becomes the variables of AWS' own clients, in the environment of the process. There delta-rs,
Spark and the probe find them alike, and no argument, plan or table ever holds a key. Without the
connection these variables, or the machine's identity, are used as they are.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from urllib.parse import urlsplit

from sluice.connections import Connection
from sluice.errors import SettingsError
from sluice.settings import Settings
from sluice.tables.warehouse import is_on_s3

CONNECTION = "sluice_warehouse"
_EXAMPLE = (
    '{"conn_type": "aws", "login": "ACCESS_KEY_ID", "password": "…",'
    ' "extra": {"region_name": "eu-central-1"}}'
)
ENDPOINT, REGION = "AWS_ENDPOINT_URL", "AWS_REGION"
_STS = "AWS_ENDPOINT_URL_STS"
VIRTUAL_HOST = "AWS_VIRTUAL_HOSTED_STYLE_REQUEST"
# Keys of the extra, as Airflow's Amazon provider names them, and their variables.
_EXTRA = {
    "endpoint_url": ENDPOINT,
    "region_name": REGION,
    "aws_session_token": "AWS_SESSION_TOKEN",
}
_ADDRESSING = "addressing_style"
_IDENTITY = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
# With one of these delta-rs commits in another way than by a conditional PUT.
_UNSAFE = ("AWS_S3_ALLOW_UNSAFE_RENAME", "AWS_S3_LOCKING_PROVIDER", "AWS_CONDITIONAL_PUT")
# delta-rs follows all of these, in any case; the probe and Spark only some.
_ALIASES = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT", "ENDPOINT_URL", "ENDPOINT")


def reach_warehouse(environment: MutableMapping[str, str]) -> None:
    """Bring the environment to what `AIRFLOW_CONN_SLUICE_WAREHOUSE` in it says.

    Raises SettingsError, which repeats no secret.
    """
    connection = Connection.find(CONNECTION, environment, _EXAMPLE)
    if is_on_s3(Settings.from_environment(environment).warehouse):
        use_connection(connection, environment)
    else:
        _apply(connection, environment)


def use_connection(connection: Connection | None, environment: MutableMapping[str, str]) -> None:
    """Bring the environment to what a connection says; None: as it is.

    Raises SettingsError, which repeats no secret; also for a variable with which delta-rs would
    commit in another way, or to another server, than Spark.
    """
    for name in (name for name, text in environment.items() if text):
        if name in _UNSAFE:
            raise _set(name, "commits to S3 could overwrite each other. Unset it")
        if name.upper() in _ALIASES:
            raise _set(
                name,
                "delta-rs and Spark could ask different servers. Unset it, and name the server in"
                f" `endpoint_url` of the connection {CONNECTION}, or in {ENDPOINT}",
            )
    _apply(connection, environment)


def _set(name: str, consequence: str) -> SettingsError:
    return SettingsError(f"{name}: expected it unset, found a value: with it, {consequence}.")


def _apply(connection: Connection | None, environment: MutableMapping[str, str]) -> None:
    if connection is not None:
        variables = variables_of(connection)
        # A connection that names no server means AWS.
        environment.pop(ENDPOINT, None)
        # Another identity's session token would not fit these keys.
        if any(name in variables for name in _IDENTITY):
            for name in _IDENTITY:
                environment.pop(name, None)
        environment.update(variables)
    endpoint = environment.get(ENDPOINT, "")
    if endpoint.startswith("http://"):
        environment["AWS_ALLOW_HTTP"] = "true"
    # AWS' own default for its buckets; other servers seldom have a host name for each.
    environment.setdefault(VIRTUAL_HOST, "false" if endpoint else "true")
    environment.setdefault(REGION, environment.get("AWS_DEFAULT_REGION", "us-east-1"))
    if endpoint:
        # AWS' libraries would ask the bucket's server for credentials too, as to sign a login.
        environment.setdefault(_STS, f"https://sts.{environment[REGION]}.amazonaws.com")


def variables_of(connection: Connection) -> dict[str, str]:
    """The variables that a connection stands for. Raises SettingsError, which repeats no secret."""
    if connection.conn_type != "aws":
        raise connection.unusable("conn_type", "`aws`", repr(connection.conn_type))
    key, secret = connection.login, connection.password
    if bool(key) != bool(secret):
        raise connection.unusable(
            "login, password", "both, or none for the machine's identity", "one of them"
        )
    found = {_IDENTITY[0]: key, _IDENTITY[1]: secret} if key else {}
    extra = connection.extra
    allowed = (*_EXTRA, _ADDRESSING)
    if unknown := sorted({*extra} - {*allowed}):
        raise connection.unusable("extra", f"only {', '.join(allowed)}", ", ".join(unknown))
    for name, value in extra.items():
        if name in _EXTRA and value:
            found[_EXTRA[name]] = str(value)
    if (style := extra.get(_ADDRESSING)) not in (None, "path", "virtual"):
        raise connection.unusable(f"extra.{_ADDRESSING}", "`path` or `virtual`", repr(style))
    if style:
        found[VIRTUAL_HOST] = str(style == "virtual").lower()
    endpoint = found.get(ENDPOINT, "")
    place = urlsplit(endpoint)
    if endpoint and (place.scheme not in ("http", "https") or "@" in place.netloc):
        raise connection.unusable("extra.endpoint_url", "https://host[:port]", "another form")
    return found
