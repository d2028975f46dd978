"""Forms: a bounded body, read as browsers send plain forms, and its fields as the screens want them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from messor.errors import UsageError

MOST_BYTES = 512_000
MOST_BYTES_OF_STRANGERS = 16_384  # a login, a request for a domain; nobody answers for more
MOST_FIELDS = 2_000
MOST_UPLOAD = 16_000_000  # bytes of a form with files
MOST_FILES = 4
KIND = "application/x-www-form-urlencoded"


class TooLargeError(UsageError):
    code = "too_large"


class WrongKindError(UsageError):
    code = "wrong_kind"


@dataclass(frozen=True, slots=True)
class File:
    """A file that came with a form, whole."""

    name: str
    body: bytes


class Form:
    """The fields of a form; what cannot be stored was taken out."""

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
        """A field as it was typed, the last one of several."""
        return self._fields.get(name, [default])[-1]

    def words(self, name: str) -> str | None:
        """A field that says something, or None."""
        return self.text(name).strip() or None

    def every(self, name: str) -> list[str]:
        return list(self._fields.get(name, ()))

    def file(self, name: str) -> File | None:
        """A file that was chosen; a field left empty sends one without a name."""
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
            raise UsageError(f"{label}: give a whole number, not {typed[:50]!r}.")
        return int(typed)

    def decimal(self, name: str, label: str) -> float | None:
        """A number, or None for an empty field."""
        typed = self.words(name)
        if typed is None:
            return None
        try:
            number = float(typed[:50])
        except ValueError as error:
            raise UsageError(f"{label}: give a number, not {typed[:50]!r}.") from error
        if number != number or abs(number) > 1e9:  # noqa: PLR0124 - only NaN differs from itself
            raise UsageError(f"{label}: give a number, not {typed[:50]!r}.")
        return number


async def read_form(
    request: Request, *, most_bytes: int = MOST_BYTES, takes_files: bool = False
) -> Form:
    """The form of a request; raises a sentence for what is too large or of another kind."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data" and takes_files:
        _refuse_long(request, MOST_UPLOAD)
        return await _read_parts(request)
    if kind != KIND:
        raise WrongKindError(f"Forms are sent as {KIND}.")
    _refuse_long(request, most_bytes)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most_bytes:
            raise _too_large()
    try:
        fields = parse_qsl(
            body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MOST_FIELDS
        )
    except ValueError as error:
        raise TooLargeError("This form has too many fields. Send less at a time.") from error
    return Form(fields)


async def _read_parts(request: Request) -> Form:
    """A form with files, as browsers send it."""
    parser = MultiPartParser(
        request.headers,
        _bounded(request),
        max_files=MOST_FILES,
        max_fields=MOST_FIELDS,
        max_part_size=MOST_BYTES,
    )
    try:
        parsed = await parser.parse()
    except (MultiPartException, KeyError) as error:
        raise WrongKindError("This form cannot be read.") from error
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
        if size > MOST_UPLOAD:
            raise _too_large()
        yield chunk


def _refuse_long(request: Request, most_bytes: int) -> None:
    """Before anything of it is read, where its length is told."""
    told = request.headers.get("content-length", "")
    if told.isascii() and told.isdigit() and int(told[:20]) > most_bytes:
        raise _too_large()


def _too_large() -> TooLargeError:
    return TooLargeError("This form is too large. Send less at a time.")
