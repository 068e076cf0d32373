"""Where the public files are: a folder of one's own, the cache, or the network.

Nothing enters the cache that was not checked: files are fetched and converted in a temporary
folder, and the finished file is moved into place in one step.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import os
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dfop.rows.extras import need
from dfop.streams.convert import convert
from dfop.streams.entries import Entry, Upstream
from dfop.streams.errors import DataError, DownloadError

FOLDER = "DFOP_DATA"
CACHE = "DFOP_CACHE"


def find(entry: Entry) -> Path:
    """Give the path of a stream's checked file, after a download if need be."""
    folder = os.environ.get(FOLDER)
    if folder and (path := Path(folder) / entry.file).exists():
        check_content(entry, path)
        return path
    pooch = need("pooch", extra="data", purpose=f"finding {entry.name} outside the folder {FOLDER}")
    cache = Path(os.environ.get(CACHE) or pooch.os_cache("dfop"))
    path = cache / entry.file
    if path.exists():
        check_content(entry, path)
        return path
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix="incoming-") as incoming:
        originals = [
            _given(file, folder) or _fetch(entry, file, Path(incoming), pooch)
            for file in entry.upstream
        ]
        made = Path(incoming) / entry.file
        _write(convert(entry, originals), made)
        check_content(entry, made)
        os.replace(made, path)
    return path


def _given(file: Upstream, folder: str | None) -> Path | None:
    """Find an upstream file that the user fetched by hand and put into the folder."""
    if not folder or not (path := Path(folder) / file.filename).exists():
        return None
    check_upstream(file, path)
    return path


def _fetch(entry: Entry, file: Upstream, incoming: Path, pooch: Any) -> Path:
    try:
        pooch.retrieve(
            file.url,
            # The git hash of a file is not one that pooch knows: it is checked below.
            known_hash=f"sha256:{file.sha256}" if file.sha256 else None,
            fname=file.filename,
            path=incoming,
            # The bar is drawn by tqdm; without it the download is merely silent.
            progressbar=importlib.util.find_spec("tqdm") is not None,
        )
        check_upstream(file, incoming / file.filename)
    except (OSError, ValueError) as error:
        # Network failures of requests are OSErrors; pooch and the check raise ValueError.
        response = getattr(error, "response", None)
        if response is not None:
            # A refused request would otherwise keep its connection until it is collected.
            response.close()
        raise DownloadError(
            f"cannot get {entry.name} from {file.url}: {error}\n"
            f"Without a network, put {entry.file} (or {file.filename}, as published) into a "
            f"folder and name the folder in the environment variable {FOLDER}."
        ) from error
    return incoming / file.filename


def check_upstream(file: Upstream, path: Path) -> None:
    """Refuse a published file whose bytes are not those in the catalogue."""
    data = path.read_bytes()
    if file.sha256 is not None:
        kind, expected, found = "SHA-256", file.sha256, hashlib.sha256(data).hexdigest()
    else:
        kind, expected, found = "git blob SHA-1", file.git_blob_sha1 or "", _git_blob_sha1(data)
    if found != expected:
        raise DataError(
            f"the {kind} is {found}, not {expected}, so the file is incomplete or another one",
            source=str(path),
            remedy="Download it again",
        )


def check_content(entry: Entry, path: Path) -> None:
    """Refuse a file of ours whose uncompressed content is not that in the catalogue."""
    try:
        with gzip.open(path) as data:
            if entry.csv_sha256 is not None:
                found = hashlib.file_digest(data, "sha256").hexdigest()
                good = found == entry.csv_sha256
            else:
                # The rows are those of upstream, whose last newline may be absent.
                rows = data.read().partition(b"\n")[2]
                blobs = [_git_blob_sha1(rows), _git_blob_sha1(rows.removesuffix(b"\n"))]
                good = entry.upstream[0].git_blob_sha1 in blobs
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(
            f"the file is broken ({error})",
            source=str(path),
            remedy="Delete it; it will be downloaded again",
        ) from None
    if not good:
        raise DataError(
            "the content is not that of the published stream (wrong checksum)",
            source=str(path),
            remedy="Delete it; it will be downloaded again",
        )


def _git_blob_sha1(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _write(lines: Iterator[str], path: Path) -> None:
    # No time stamp: the same content gives the same file.
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as out:
        for line in lines:
            out.write(line.encode("utf-8"))
