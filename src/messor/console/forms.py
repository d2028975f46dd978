"""Forms: bounded request bodies, parsed into typed fields and files."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from messor.errors import UsageError

MAX_BYTES = 512_000
MAX_ANONYMOUS_BYTES = 16_384  # anonymous callers only log in or request a domain
MAX_FIELDS = 2_000
MAX_UPLOAD_BYTES = 16_000_000  # bytes of a form with files
MAX_FILES = 4
CONTENT_TYPE = "application/x-www-form-urlencoded"


class FormTooLargeError(UsageError):
    code = "too_large"


class WrongKindError(UsageError):
    code = "wrong_kind"


@dataclass(frozen=True, slots=True)
class File:
    """An uploaded file."""

    name: str
    body: bytes


class Form:
    """The fields of a form, without NUL characters, which PostgreSQL cannot store."""

    def __init__(
        self, fields: Sequence[tuple[str, str]] = (), files: Mapping[str, File] | None = None
    ) -> None:
        self._fields: dict[str, list[str]] = {}
        self._files = dict(files or {})
        for name, value in fields:
            self._fields.setdefault(name, []).append(value.replace("\x00", ""))

    def __contains__(self, name: str) -> bool:
        return name in self._fields

    def text(self, name: str, default: str = "") -> str:
        """A field as typed; the last value when it is repeated."""
        return self._fields.get(name, [default])[-1]

    def words(self, name: str) -> str | None:
        """A field without surrounding white space, or None when empty."""
        return self.text(name).strip() or None

    def every(self, name: str) -> list[str]:
        return list(self._fields.get(name, ()))

    def file(self, name: str) -> File | None:
        """An uploaded file; an empty file field sends one without a name."""
        found = self._files.get(name)
        return found if found is not None and (found.name or found.body) else None

    def is_on(self, name: str) -> bool:
        return self.text(name) not in ("", "0", "off", "no")

    def whole(self, name: str, label: str) -> int | None:
        """A whole number, or None for an empty field."""
        typed = self.words(name)
        if typed is None:
            return None
        if len(typed) > 12 or not typed.lstrip("-").isdecimal():
            raise UsageError(f"{label}: {typed[:50]!r} is not a whole number.")
        return int(typed)

    def decimal(self, name: str, label: str) -> float | None:
        """A number, or None for an empty field."""
        typed = self.words(name)
        if typed is None:
            return None
        try:
            number = float(typed[:50])
        except ValueError as error:
            raise UsageError(f"{label}: {typed[:50]!r} is not a number.") from error
        if number != number or abs(number) > 1e9:  # noqa: PLR0124 - only NaN differs from itself
            raise UsageError(f"{label}: {typed[:50]!r} is not a number.")
        return number


async def read_form(
    request: Request, *, max_bytes: int = MAX_BYTES, takes_files: bool = False
) -> Form:
    """Parse the form of a request; raises for bodies that are too large or of another type."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data" and takes_files:
        _check_length(request, MAX_UPLOAD_BYTES)
        return await _read_parts(request)
    if kind != CONTENT_TYPE:
        raise WrongKindError(f"The form must be sent as {CONTENT_TYPE}.")
    body = await read_body(request, max_bytes)
    try:
        fields = parse_qsl(
            body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MAX_FIELDS
        )
    except ValueError as error:
        raise FormTooLargeError("The form has too many fields; submit fewer at a time.") from error
    return Form(fields)


async def read_body(request: Request, max_bytes: int) -> bytes:
    """The body of a request; raises where it is too large."""
    _check_length(request, max_bytes)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > max_bytes:
            raise _too_large()
    return bytes(body)


async def _read_parts(request: Request) -> Form:
    """Parse a multipart form with files."""
    parser = MultiPartParser(
        request.headers,
        _bounded(request),
        max_files=MAX_FILES,
        max_fields=MAX_FIELDS,
        max_part_size=MAX_BYTES,
    )
    try:
        parsed = await parser.parse()
    except (MultiPartException, KeyError) as error:
        raise WrongKindError("The form data is malformed.") from error
    fields: list[tuple[str, str]] = []
    files: dict[str, File] = {}
    try:
        for name, value in parsed.multi_items():
            if isinstance(value, UploadFile):
                files[name] = File((value.filename or "").replace("\x00", ""), await value.read())
            else:
                fields.append((name, value))
    finally:
        await parsed.close()
    return Form(fields, files)


async def _bounded(request: Request) -> AsyncGenerator[bytes, None]:
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > MAX_UPLOAD_BYTES:
            raise _too_large()
        yield chunk


def _check_length(request: Request, max_bytes: int) -> None:
    """Reject by Content-Length, before the body is read."""
    length = request.headers.get("content-length", "")
    if length.isascii() and length.isdigit() and int(length[:20]) > max_bytes:
        raise _too_large()


def _too_large() -> FormTooLargeError:
    return FormTooLargeError("The form is too large; submit less at a time.")
