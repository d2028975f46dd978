"""Where a broker may be: judged before anybody connects, in whatever way its address is spelled."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from messor.errors import UsageError
from messor.jobs.broker.options import options_of
from messor.settings import Settings


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "169.254.169.254:5672",
        "2852039166",
        "0xa9fea9fe",
        "[fe80::1]",
        "[fe80::1%25eth0]",
        "[::ffff:169.254.169.254]:5672",
        "[fd00:ec2::254]",
        "127.0.0.1//;amqp://guest:guest@169.254.169.254",
    ],
)
def test_a_broker_is_never_at_a_metadata_address(host: str) -> None:
    url = SecretStr(f"amqp://guest:s3same@{host}//")
    with pytest.raises(UsageError, match="which is not allowed") as caught:
        options_of(Settings(broker_url=url))
    assert "s3same" not in str(caught.value)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "[::1]:5672", "10.0.0.7", "rabbit", "mq.example:5671"]
)
def test_a_private_broker_is_the_operators_choice(host: str) -> None:
    url = f"amqp://guest:guest@{host}//"
    assert options_of(Settings(broker_url=SecretStr(url))).url == url
