"""LDraw files as blocks: bytes to text, text to the sub-models, parts and data of an MPD."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evalkit_brickbench.ldraw.lines import Header, References, parse_block
from evalkit_brickbench.ldraw.names import normalise
from evalkit_brickbench.ldraw.notes import LDrawError, Note, NoteList, shorten

SIZE_LIMIT_BYTES = 64 * 1024 * 1024
LINE_LIMIT = 5_000_000
BLOCK_LIMIT = 100_000

_FILE = re.compile(r"\s*0\s+FILE\s+(\S.*)", re.IGNORECASE)
_NOFILE = re.compile(r"\s*0\s+NOFILE\s*$", re.IGNORECASE)
_DATA = re.compile(r"\s*0\s+!DATA\s+(\S.*)", re.IGNORECASE)
_DATA_LINE = re.compile(r"\s*0\s+!:\s*(.*)")
_CONTENT = re.compile(r"\s*[0-5](?:\s|$)")
PART_KINDS = frozenset({"part", "shortcut"})
GEOMETRY_KINDS = frozenset({"subpart", "primitive"})


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """One file of an MPD: `name` as written, `key` for look-ups, `text` with LF line ends, its content."""

    name: str
    key: str
    text: str
    header: Header
    references: References

    @property
    def is_part(self) -> bool:
        """Whether a reference to this block places a part: by its header, or by `.dat` if that doesn't say
        that it's a model or a piece of a part."""
        kind = self.header.kind
        return kind in PART_KINDS or (self.key.endswith(".dat") and kind != "model" and not self.is_geometry)

    @property
    def is_geometry(self) -> bool:
        """Whether the header calls this a piece of a part: a sub-part or a primitive."""
        return self.header.kind in GEOMETRY_KINDS


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A file: its blocks in order, the first of which is the main model, and its embedded data.

    `encoding` is the one that was found; `data` holds the bytes of `!DATA` blocks by normalised name.
    """

    name: str
    encoding: str
    blocks: tuple[Block, ...]
    data: Mapping[str, bytes]
    notes: tuple[Note, ...]
    _index: Mapping[str, Block] = field(repr=False)
    _repeated: frozenset[str] = field(repr=False)

    @property
    def main(self) -> Block:
        """The main model."""
        return self.blocks[0]

    def find(self, name: str) -> Block | None:
        """The embedded file of this name, whatever its case and slashes; the first if there are several."""
        return self._index.get(normalise(name))

    def is_repeated(self, name: str) -> bool:
        """Whether several blocks have this name."""
        return normalise(name) in self._repeated


@dataclass(slots=True)
class _Section:
    name: str
    first_line: int
    is_data: bool = False
    lines: list[str] = field(default_factory=list)


def read_document(
    source: str | Path | bytes, name: str | None = None, size_limit_bytes: int = SIZE_LIMIT_BYTES
) -> Document:
    """Read an LDraw file from a path or from its bytes; `name` is what messages call it.

    Raises LDrawError if it's too big, can't be opened, isn't text or has no LDraw line at all. Anything else
    that is wrong is left out and told in `Document.notes`.
    """
    raw, shown = _load(source, name, size_limit_bytes)
    notes = NoteList()
    text, encoding = decode(raw, shown, notes)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.count("\n") > LINE_LIMIT:
        raise LDrawError(f"{shown}: more than {LINE_LIMIT:,} lines, the limit for LDraw files; split it")
    sections = _split(text.split("\n"), shown, notes)
    if len(sections) > BLOCK_LIMIT:
        raise LDrawError(f"{shown}: more than {BLOCK_LIMIT:,} files in one, the limit for MPDs; split it")
    models = [section for section in sections if not section.is_data]
    if not any(_CONTENT.match(line) for section in models for line in section.lines):
        raise LDrawError(f"{shown}: no LDraw line in it; give an .ldr, .mpd or .dat file")
    blocks = tuple(_block(section, notes) for section in models)
    index, repeated = _index(blocks, notes)
    data = {normalise(s.name): _decode_data(s, notes) for s in sections if s.is_data}
    return Document(shown, encoding, blocks, data, notes.finish(), index, repeated)


def decode(raw: bytes, name: str, notes: NoteList) -> tuple[str, str]:
    """Text and encoding of the bytes of a file: by its byte-order mark, else UTF-8, else cp1252.

    Bytes that cp1252 doesn't define become U+FFFD and are noted. Raises LDrawError for what isn't text.
    """
    if raw.startswith(b"PK\x03\x04"):
        raise LDrawError(
            f"{name}: this is a zip archive, not an LDraw file; export the model as .ldr or .mpd"
        )
    text, encoding = _decode(raw, name, notes)
    stripped = text.rstrip("\0")
    if "\0" in stripped:
        raise LDrawError(f"{name}: this is no text file (a zero byte in it); give an .ldr, .mpd or .dat file")
    if stripped != text:
        notes.add("zero-bytes", "zero bytes at the end; the file may be damaged", name)
    if not stripped.strip():
        raise LDrawError(f"{name}: the file is empty")
    return stripped, encoding


def _decode(raw: bytes, name: str, notes: NoteList) -> tuple[str, str]:
    marks = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
    for mark, encoding in marks:
        if raw.startswith(mark):
            try:
                return raw.decode(encoding), encoding
            except UnicodeDecodeError:
                notes.add("encoding", f"some bytes aren't {encoding}", name)
                return raw.decode(encoding, errors="replace"), encoding
    try:
        return raw.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        notes.add("encoding", "the file isn't UTF-8; read as cp1252 (Windows, Western Europe)", name)
        return raw.decode("cp1252", errors="replace"), "cp1252"


def _load(source: str | Path | bytes, name: str | None, limit: int) -> tuple[bytes, str]:
    if isinstance(source, bytes):
        raw, shown = source[: limit + 1], shorten(name or "model.ldr")
    else:
        path = Path(source)
        shown = shorten(name or path.name)
        try:
            with path.open("rb") as stream:
                raw = stream.read(limit + 1)
        except OSError as error:
            raise LDrawError(f"{shown}: can't be read ({error.strerror}); check the path") from error
    if len(raw) > limit:
        raise LDrawError(f"{shown}: larger than {limit / 2**20:g} MiB, the limit for LDraw files; split it")
    return raw, shown


def _split(lines: list[str], name: str, notes: NoteList) -> list[_Section]:
    """Blocks between FILE, NOFILE and !DATA. Lines before the first FILE are the main model if they place
    anything, as in files that were joined by hand."""
    sections = [_Section(name, 1)]
    current: _Section | None = sections[0]
    for number, line in enumerate(lines, 1):
        start = line[:1] if line[:1] == "1" else line.lstrip()[:1]
        if start == "0":
            if found := _FILE.match(line):
                current = _Section(found[1].strip(), number + 1)
                sections.append(current)
                continue
            if found := _DATA.match(line):
                current = _Section(found[1].strip(), number + 1, is_data=True)
                sections.append(current)
                continue
            if _NOFILE.match(line):
                current = None
                continue
        if current is not None:
            current.lines.append(line)
        elif start in ("1", "2", "3", "4", "5"):
            notes.add("outside", "a line after NOFILE belongs to no file; left out", name, number)
    if any(not section.is_data for section in sections[1:]) and not _places(sections[0]):
        del sections[0]
    return sections


def _places(section: _Section) -> bool:
    return any(line.lstrip()[:1] in ("1", "2", "3", "4", "5") for line in section.lines)


def _block(section: _Section, notes: NoteList) -> Block:
    header, references = parse_block(section.lines, section.name, section.first_line, notes)
    return Block(section.name, normalise(section.name), "\n".join(section.lines), header, references)


def _index(blocks: tuple[Block, ...], notes: NoteList) -> tuple[dict[str, Block], frozenset[str]]:
    index: dict[str, Block] = {}
    repeated: set[str] = set()
    for block in blocks:
        if block.key in index:
            repeated.add(block.key)
            message = (
                f"there are several files '{shorten(block.name)}' in this one; references mean the first"
            )
            notes.add("repeated-name", message, block.name)
        index.setdefault(block.key, block)
    return index, frozenset(repeated)


def _decode_data(section: _Section, notes: NoteList) -> bytes:
    text = "".join(found[1] for line in section.lines if (found := _DATA_LINE.match(line)))
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        notes.add("bad-data", "the embedded data isn't base64; left out", section.name, section.first_line)
        return b""
