"""The MSK token: the address of a request that AWS' own library signed.

It is for librdkafka and aiokafka. Spark's Java client has `sluice.MskLogin` for it (jobs/jvm).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from aiokafka.abc import AbstractTokenProvider
from aiokafka.errors import AuthenticationFailedError

from sluice.errors import SettingsError

_PACKAGE = "aws-msk-iam-sasl-signer-python"


def signed_token(region: str) -> tuple[str, float]:
    """A token and when it expires, in seconds since 1970: 15 minutes from now.

    Signed with the credentials that AWS' default chain finds. Raises SettingsError if it finds
    none, or if the package that signs is not installed.
    """
    try:
        from aws_msk_iam_sasl_signer.MSKAuthTokenProvider import generate_auth_token
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.session import Session
    except ImportError:
        raise SettingsError(
            f"sasl.mechanism: AWS_MSK_IAM needs the package {_PACKAGE}, found none. Install it"
            f" where the task runs: pip install {_PACKAGE} (the extra msk of Sluice has it)"
        ) from None
    try:
        found = Session().get_credentials()
        if found is None:
            raise SettingsError(
                "sasl.mechanism: AWS_MSK_IAM needs AWS credentials where the task runs, found none"
                " in the environment, in ~/.aws, or in the identity of the container or machine."
                " Give the task one of these."
            )
        token, expires_ms = generate_auth_token(region)
    except (BotoCoreError, ClientError) as problem:
        raise SettingsError(
            f"sasl.mechanism: AWS_MSK_IAM: AWS gave no credentials: {problem}. Correct what the"
            " task has of them."
        ) from None
    return str(token), expires_ms / 1000


def token_callback(region: str) -> Callable[[object], tuple[str, float]]:
    """What librdkafka calls for each token (`oauth_cb`): it asks again before one expires."""
    return lambda _: signed_token(region)


class MskToken(AbstractTokenProvider):  # type: ignore[misc]
    """A token for each connection of the raw log's client."""

    def __init__(self, region: str) -> None:
        self._region = region

    async def token(self) -> str:
        """A new token. Raises AuthenticationFailedError."""
        try:
            token, _ = await asyncio.to_thread(signed_token, self._region)
        except SettingsError as problem:
            raise AuthenticationFailedError(str(problem)) from None
        return token
