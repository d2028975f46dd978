"""The error of documents that cannot be read."""

from __future__ import annotations

from messor.errors import MessorError


class DocumentError(MessorError):
    """A document that is encrypted, damaged or too large to be read; the message says which."""

    code = "unreadable_document"
