"""A generation: all that a run needs to go on, in one file that shows every damage.

    DFOPRUN1 | length of the document, 8 bytes | document, JSON | blobs | SHA-256 of all before

The document names the blobs and their lengths. Reading never runs code.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MAGIC = b"DFOPRUN1"
_DIGEST = 32


class CheckpointError(Exception):
    """A checkpoint that cannot be used: damaged, of another run, or in use.

    Examples
    --------
    >>> raise CheckpointError("the folder is in use")
    Traceback (most recent call last):
    ...
    dfop.checkpoints.generation.CheckpointError: the folder is in use
    """


@dataclass(frozen=True)
class Generation:
    """What a run had done at some row.

    Parameters
    ----------
    number : int
        The first one is 1.
    state : dict
        What JSON can hold: place in the source, options, counts, lengths of the outputs.
    blobs : dict of str to bytes
        What it cannot: the model.

    Examples
    --------
    >>> written = Generation(3, {"rows": 1000}, {"model": b"..."}).to_bytes()
    >>> read = Generation.from_bytes(written)
    >>> read.number, read.state["rows"], read.blobs["model"]
    (3, 1000, b'...')
    >>> Generation.from_bytes(written[:-1])
    Traceback (most recent call last):
    ...
    dfop.checkpoints.generation.CheckpointError: it is damaged: its checksum does not fit
    """

    number: int
    state: Mapping[str, Any]
    blobs: Mapping[str, bytes] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """Return it as the content of a file."""
        lengths = {name: len(blob) for name, blob in self.blobs.items()}
        document = {"number": self.number, "state": self.state, "blobs": lengths}
        head = json.dumps(document, allow_nan=False).encode()
        content = b"".join([MAGIC, len(head).to_bytes(8, "little"), head, *self.blobs.values()])
        return content + hashlib.sha256(content).digest()

    @classmethod
    def from_bytes(cls, data: bytes) -> Generation:
        """Read the content of a file; whatever is damaged is refused."""
        content, digest = data[:-_DIGEST], data[-_DIGEST:]
        if not content.startswith(MAGIC):
            raise CheckpointError("it is damaged, or no generation of a run")
        if hashlib.sha256(content).digest() != digest:
            raise CheckpointError("it is damaged: its checksum does not fit")
        try:
            start = len(MAGIC) + 8
            at = start + int.from_bytes(content[len(MAGIC) : start], "little")
            document = json.loads(content[start:at])
            blobs = {}
            for name, length in document["blobs"].items():
                blobs[name] = content[at : at + length]
                at += length
            return cls(int(document["number"]), dict(document["state"]), blobs)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise CheckpointError(f"it makes no sense ({error})") from None
