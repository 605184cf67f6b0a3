"""Checking that pictures are nothing but pictures, and an archive of them nothing but its members.

What a picture shows is not looked at; that nothing else hides in its file is.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from evalkit_polybridge.release.findings import MAX_FILE_BYTES, Report
from evalkit_polybridge.release.manifest import file_entry

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHUNKS = (b"IHDR", b"IDAT", b"IEND")
#: Bytes of a member beside its data and twice its name, and of an archive beside its members, without and
#: with the records that more than 65,535 members take.
_PER_MEMBER, _PER_ARCHIVE, _PER_LARGE_ARCHIVE = 30 + 46, 22, 22 + 56 + 20


def picture_fault(data: bytes) -> str:
    """Why a file is no picture as releases have them, or nothing: a PNG of header, pixels and end alone."""
    if not data.startswith(_SIGNATURE):
        return "is no PNG file"
    place, names = len(_SIGNATURE), list[bytes]()
    while place + 12 <= len(data) and names[-1:] != [b"IEND"]:
        length, name = struct.unpack_from(">I4s", data, place)
        end = place + 12 + length
        checksum = zlib.crc32(data[place + 4 : end - 4])
        if end > len(data) or data[end - 4 : end] != struct.pack(">I", checksum):
            return "is a damaged PNG file"
        names.append(name)
        place = end
    if names[:1] != [b"IHDR"] or names[-1:] != [b"IEND"]:
        return "is a damaged PNG file"
    if place < len(data):
        return "goes on after the picture's end"
    other = [name for name in names if name not in _CHUNKS]
    return f"holds more than a picture ({other[0].decode('ascii', 'replace')})" if other else ""


def check_archive(report: Report, archive: str, data: bytes, expected: Mapping[str, Any]) -> None:
    """Compare an archive's members with the manifest's entries, and find what else is in it."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            for fault in _archive_faults(packed, len(data)):
                report.find("form", archive, fault)
            _members(report, archive, packed, expected)
    except (zipfile.BadZipFile, RuntimeError, EOFError, zlib.error) as error:
        report.find("form", archive, f"is no ZIP file as a release has them: {error}")


def _archive_faults(packed: zipfile.ZipFile, size: int) -> Iterator[str]:
    members = packed.infolist()
    for name, times in sorted(Counter(info.filename for info in members).items()):
        if times > 1:
            yield f"holds {name} {times} times"
    names = sum(len(info.filename.encode()) for info in members)
    whole = _PER_MEMBER * len(members) + 2 * names + sum(info.compress_size for info in members)
    whole += _PER_LARGE_ARCHIVE if len(members) > 0xFFFF else _PER_ARCHIVE
    if whole != size:
        yield "holds more than its members"


def _members(report: Report, archive: str, packed: zipfile.ZipFile, expected: Mapping[str, Any]) -> None:
    sizes = {info.filename: info.file_size for info in packed.infolist()}
    for name in sorted(sizes.keys() ^ expected.keys()):
        kind = "extra file" if name in sizes else "missing file"
        report.find(kind, f"{archive}/{name}", "archive and manifest list different files")
    for name in sorted(sizes.keys() & expected.keys()):
        member = f"{archive}/{name}"
        if sizes[name] > MAX_FILE_BYTES or sizes[name] != expected[name]["size"]:
            report.find("changed file", member, "its size is not the manifest's")
            continue
        picture = packed.read(name)
        if file_entry(picture) != expected[name]:
            report.find("changed file", member, "its hash is not the manifest's")
        if fault := picture_fault(picture):
            report.find("form", member, fault)
