"""Release archives: unpacking one as Apache makes them, and packing a release the same way."""

from __future__ import annotations

import gzip
import hashlib
import re
import shutil
import tarfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from kcluster.errors import RefusedError

_LAYOUT = ("bin", "libs")


def unpack(archive: Path, into: Path, top: str) -> None:
    """Unpack an archive whose one top folder is `top` into an empty folder, without that top folder."""
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                _unpack_one(tar, member, into, top, archive)
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as problem:
        raise RefusedError(f"{archive} is not a complete release archive: {problem}") from problem
    missing = [name for name in _LAYOUT if not (into / name).is_dir()]
    if missing:
        raise RefusedError(f"{archive} has no {top}/{missing[0]}/", resolution=f"use an archive of {top}")


def pack(home: Path, names: Iterable[str], file: Path, top: str) -> None:
    """Pack files of a release; the same files always give the same bytes."""
    part = file.with_name(file.name + ".part")
    # No name and no time in the header; jars are compressed already, so little effort is enough.
    with (
        part.open("wb") as raw,
        gzip.GzipFile("", "wb", 1, raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for name in sorted(names):
            _pack_one(tar, home / name, f"{top}/{name}")
    part.rename(file)


def bundle(files: Mapping[str, Path], file: Path) -> None:
    """Put files together under their names, as they are: jars are compressed already; same files, same bytes."""
    part = file.with_name(file.name + ".part")
    with part.open("wb") as raw, tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, path in sorted(files.items()):
            _pack_one(tar, path, name)
    part.rename(file)


def sha512(path: Path) -> str:
    """The SHA-512 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha512").hexdigest()


def published(text: str) -> str:
    """The hash in a `.sha512` file: of `sha512sum`, or of `gpg --print-md`, which splits it; empty if there is none."""
    if whole := re.search(r"\b[0-9a-fA-F]{128}\b", text):
        return whole[0].lower()
    joined = "".join(text.rpartition(":")[2].split())
    return joined.lower() if re.fullmatch(r"[0-9a-fA-F]{128}", joined) else ""


def _unpack_one(tar: tarfile.TarFile, member: tarfile.TarInfo, into: Path, top: str, archive: Path) -> None:
    """Unpack a directory or plain file below the top directory; RefusedError for anything else."""
    first, *rest = member.name.removeprefix("./").split("/")
    if first != top or ".." in rest or not (member.isdir() or member.isfile()):
        raise RefusedError(
            f"{archive} contains {member.name}, which is not part of {top}",
            resolution=f"use an archive of {top}",
        )
    target = into.joinpath(*rest)
    if member.isdir():
        target.mkdir(parents=True, exist_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    content = tar.extractfile(member)
    assert content is not None, "plain files have content"
    with content, target.open("wb") as file:
        shutil.copyfileobj(content, file)
    target.chmod(0o755 if member.mode & 0o100 else 0o644)


def _pack_one(tar: tarfile.TarFile, path: Path, name: str) -> None:
    member = tarfile.TarInfo(name)
    member.size = path.stat().st_size
    member.mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
    member.uname = member.gname = "root"
    with path.open("rb") as file:
        tar.addfile(member, file)
