"""A file or a stream as importers read it: from its beginning, as often as needed, as lines of text."""

import codecs
import io
import json
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, Self, cast

from assomem.errors import InputError

HEAD_BYTES = 65_536
"""So much of a file decides its format."""

_IN_MEMORY_BYTES = 32 * 1024 * 1024
_CHUNK_BYTES = 1024 * 1024

Encoding = Literal["utf-8", "utf-16", "cp1252"]


@dataclass(frozen=True)
class Source:
    """Bytes with a name. Use it as a context manager: it holds an open file."""

    name: str
    """The file's name, for messages: `memory.jsonl`, `standard input`."""

    stem: str
    """The name without its suffix."""

    stream: IO[bytes]
    """Can be rewound."""

    @classmethod
    def of_file(cls, path: Path) -> Self:
        """Open a file.

        Raises:
            InputError: it is not there or cannot be read.
        """
        try:
            return cls(path.name, path.stem, path.open("rb"))
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror})") from None

    @classmethod
    def of_stream(cls, stream: IO[bytes], *, name: str = "standard input") -> Self:
        """Read a stream to its end; a long one is kept in a temporary file."""
        # The source closes it.
        kept = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES)  # noqa: SIM115
        while chunk := stream.read(_CHUNK_BYTES):
            kept.write(chunk)
        return cls(name, name, kept)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()

    def head(self) -> str:
        """The beginning as text, at most `HEAD_BYTES` of it; what cannot be decoded is replaced."""
        self.stream.seek(0)
        start = self.stream.read(HEAD_BYTES)
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return start.decode("utf-16", "replace")
        return start.decode("utf-8", "replace").removeprefix("\ufeff")

    def encoding(self) -> Encoding:
        """UTF-16 if a byte-order mark says so, else UTF-8, else cp1252.

        A file with bytes that are not UTF-8 is UTF-8 all the same, and damaged, when at least as many of its lines
        beyond ASCII are UTF-8 as are not: cp1252 text is hardly ever UTF-8 by chance.
        """
        self.stream.seek(0)
        if self.stream.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return "utf-16"
        self.stream.seek(0)
        well, ill = 0, 0
        for line in self.stream:
            if line.isascii():
                continue
            try:
                # Not final: a character that the end of the file cuts is no sign of another encoding.
                codecs.getincrementaldecoder("utf-8")().decode(line)
                well += 1
            except UnicodeDecodeError:
                ill += 1
        return "utf-8" if well >= ill else "cp1252"


def lines(source: Source, encoding: Encoding | None = None) -> Iterator[tuple[int, str | None]]:
    r"""The lines of a source with their numbers, from 1, without their ends and without a byte-order mark.

    Lines end at `\n` or `\r\n` and nowhere else: U+2028 and its like stand inside of what people said.

    Args:
        source: read from its beginning.
        encoding: as `source.encoding()` gives it, which is the default.

    Yields:
        The number and the text; None for a line whose bytes are not of the encoding.
    """
    encoding = encoding or source.encoding()
    source.stream.seek(0)
    if encoding == "utf-16":
        text = io.TextIOWrapper(source.stream, encoding="utf-16", errors="replace", newline="\n")
        try:
            for number, line in enumerate(text, start=1):
                yield number, _without_end(line)
        finally:
            text.detach()  # else the wrapper would close the source
        return
    for number, raw in enumerate(source.stream, start=1):
        if encoding == "cp1252":
            yield number, _without_end(raw.decode("cp1252", "replace"))
            continue
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError:
            yield number, None
        else:
            yield number, _without_end(line.removeprefix("\ufeff") if number == 1 else line)


def _without_end(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")


def seen(source: Source) -> str:
    """What a file looks like, in words that repeat none of its content: `text, 12 lines`, `a zip archive`."""
    source.stream.seek(0)
    start = source.stream.read(HEAD_BYTES)
    if not start.strip():
        return "empty"
    if start.startswith(b"PK\x03\x04"):
        return "a zip archive: unpack it first"
    if b"\x00" in start and not start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "binary, not text"
    head = source.head().lstrip()
    first = head.split("\n", 1)[0]
    if head.startswith("["):
        return "a JSON list, not one object a line"
    if head.startswith("{"):
        keys = _keys(first)
        return f"JSON, its first line with {keys}" if keys else "JSON spread over lines, not one object a line"
    return "text that is not JSON"


_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,31}")


def _keys(line: str) -> str:
    """The keys of one line of JSON; those that could be words of somebody are only counted."""
    try:
        record: object = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(record, dict):
        return ""
    keys = list(cast(dict[str, object], record))
    plain = [key for key in keys if _PLAIN_KEY.fullmatch(key)][:8]
    more = len(keys) - len(plain)
    return f"the keys {', '.join(plain)}" + (f" and {more} more" if more else "") if plain else f"{more} keys"
