"""An error of delta-rs in one line, with what an object store has answered."""

from __future__ import annotations

from sluice.tables.error_text import first_line


def test_a_backtrace_is_left_out() -> None:
    assert first_line(OSError("Not a table.\nstack: 1\nstack: 2")) == "Not a table"
    frames = "\n   0: <unknown>\n   1: clone3\n             at ./clone3.S:81:0\n"
    assert first_line(OSError(f"Not a table.{frames}")) == "Not a table"


def test_what_the_store_has_answered_is_told() -> None:
    found = OSError(
        "Generic S3 error\n\t\x1b[31m↳\x1b[0m Error performing GET http://s3/lake in 1ms"
        " - Server returned non-2xx status code\n\t \x1b[31m↳\x1b[0m 403 Forbidden\n\t  \x1b[31m↳"
        '\x1b[0m <?xml version="1.0"?>\n<Error><Code>AccessDenied</Code></Error>'
    )
    assert first_line(found) == (
        "Generic S3 error: Error performing GET http://s3/lake in 1ms"
        " - Server returned non-2xx status code: 403 Forbidden: AccessDenied"
    )


def test_keys_that_have_expired_are_named_and_the_token_that_aws_repeats_is_not() -> None:
    for begins in ("", '<?xml version="1.0" encoding="UTF-8"?>\n'):
        found = OSError(
            "Generic S3 error: Error performing PUT http://s3/lake in 1ms - Server returned"
            f" non-2xx status code: 400 Bad Request: {begins}<Error><Code>ExpiredToken</Code>"
            "<Message>The provided token has expired.</Message><Token-0>canary</Token-0></Error>"
        )
        told = first_line(found)
        assert "400 Bad Request: ExpiredToken: the keys have expired. Renew the con" in told
        assert "canary" not in told
        assert "Error>" not in told
