"""A broker behind TLS must prove who it is."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from socket import SHUT_RDWR, create_server

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from messor.core.ids import new_id
from messor.jobs.broker.app import build_app
from messor.jobs.broker.options import Options
from messor.jobs.broker.outbox import Hint
from messor.jobs.broker.publisher import BrokerAwayError, Publisher


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Of `other.test`, signed by itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "other.test")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("other.test")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, SHA256())
    )
    path = tmp_path / "certificate.pem"
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.write_bytes(made.public_bytes(Encoding.PEM) + secret)
    return path


@pytest.fixture
def url(certificate: Path) -> Iterator[str]:
    """A server that answers TLS handshakes."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            with suppress(OSError):  # the end of listening
                while True:
                    accepted, _ = listening.accept()
                    with accepted, suppress(OSError):
                        context.wrap_socket(accepted, server_side=True).close()

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"amqps://guest:guest@127.0.0.1:{listening.getsockname()[1]}//"
        listening.shutdown(SHUT_RDWR)
        thread.join()


@pytest.mark.parametrize(
    "is_trusted, complaint", [(False, "self-signed certificate"), (True, "IP address mismatch")]
)
def test_a_stranger_is_not_talked_to(
    url: str, certificate: Path, is_trusted: bool, complaint: str
) -> None:
    options = Options(url, ca_file=str(certificate) if is_trusted else None)
    with (
        closing(Publisher(build_app(options), options)) as publisher,
        pytest.raises(BrokerAwayError, match=complaint),
    ):
        publisher.send([Hint(new_id(), "score")])
