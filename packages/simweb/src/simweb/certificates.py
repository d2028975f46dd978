"""A throw-away certificate authority and one certificate for all simulated hosts.

Needs `cryptography`, a development requirement: this module is imported only if TLS is requested.
"""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

_PEM = serialization.Encoding.PEM
_LIFETIME = timedelta(days=30)


class Authority:
    """Signs as long as it lives; its key is never stored."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("Simulated web authority")
        constraints = x509.BasicConstraints(ca=True, path_length=0)
        self._certificate = self._sign(self._name, self._key.public_key(), constraints, [])

    def write(self, file: Path) -> None:
        file.write_bytes(self._certificate.public_bytes(_PEM))

    def context(self, hosts: list[str], folder: Path) -> ssl.SSLContext:
        """A server's context with one certificate for all these hosts."""
        key = ec.generate_private_key(ec.SECP256R1())
        constraints = x509.BasicConstraints(ca=False, path_length=None)
        leaf = self._sign(_name("simulated.test"), key.public_key(), constraints, hosts)
        secret = key.private_bytes(
            _PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        chain = folder / "chain.pem"
        chain.write_bytes(secret + leaf.public_bytes(_PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain)
        return context

    def _sign(
        self,
        subject: x509.Name,
        public: ec.EllipticCurvePublicKey,
        constraints: x509.BasicConstraints,
        hosts: list[str],
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        builder = (
            x509.CertificateBuilder(subject_name=subject, issuer_name=self._name)
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + _LIFETIME)
            .add_extension(constraints, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .add_extension(issuer, critical=False)
        )
        if hosts:
            names = x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts])
            builder = builder.add_extension(names, critical=False)
        return builder.sign(self._key, hashes.SHA256())


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])
