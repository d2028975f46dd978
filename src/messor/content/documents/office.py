"""Zipped office files: members within limits, parsed as XML that declares no entities."""

from __future__ import annotations

import zipfile
from io import BytesIO
from xml.etree import ElementTree as ET

from messor.content.documents.errors import DocumentError

MAX_UNPACKED = 256 * 1024 * 1024
MAX_MEMBERS = 10_000


def opened(body: bytes, what: str) -> zipfile.ZipFile:
    """Open a zipped file; raises DocumentError if it is damaged or unpacks to too much."""
    try:
        archive = zipfile.ZipFile(BytesIO(body))
        members = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        raise DocumentError(f"The {what} cannot be opened: it is damaged.") from None
    size = sum(member.file_size for member in members)
    if len(members) > MAX_MEMBERS or size > MAX_UNPACKED:
        raise DocumentError(
            f"The {what} unpacks to {size:,} bytes in {len(members):,} parts, more than is read."
        )
    return archive


def member(archive: zipfile.ZipFile, name: str, what: str) -> bytes:
    """A member's bytes, never more than it declares; raises DocumentError."""
    try:
        return archive.read(name)
    except KeyError:
        raise DocumentError(f"The {what} has no part {name!r}.") from None
    except RuntimeError:
        raise DocumentError(f"The {what} is encrypted with a password.") from None
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError):
        raise DocumentError(f"The {what} cannot be opened: it is damaged.") from None


def xml(content: bytes, what: str) -> ET.Element:
    """Parse a member; a document type, which office files never have, is refused."""
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise DocumentError(f"The {what} declares XML entities, which office files never do.")
    try:
        return ET.fromstring(content)  # noqa: S314 - no entities: refused above
    except ET.ParseError:
        raise DocumentError(f"The {what} cannot be opened: its XML is damaged.") from None
