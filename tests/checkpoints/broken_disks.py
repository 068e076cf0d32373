"""Disks that stop, fill up, or lose power."""

import errno
import itertools
import os
from pathlib import Path

from dfop.checkpoints import Disk


class Killed(BaseException):
    """The process is dead: nobody catches this."""


class CountingDisk(Disk):
    """Counts the calls that change the disk, and says of each what it is."""

    def __init__(self):
        self.calls = []

    def _call(self, name):
        self.calls.append(name)

    def open(self, path, flags):
        self._call("open")
        return super().open(path, flags)

    def write(self, file, data):
        self._call("write")
        super().write(file, data)

    def truncate(self, file, length):
        self._call("truncate")
        super().truncate(file, length)

    def sync(self, file):
        self._call("sync")
        super().sync(file)

    def rename(self, old, new):
        self._call("rename")
        super().rename(old, new)

    def unlink(self, path):
        self._call("unlink")
        super().unlink(path)

    def make_folder(self, path):
        self._call("make_folder")
        super().make_folder(path)

    def sync_folder(self, path):
        self._call("sync_folder")
        super().sync_folder(path)


class KillingDisk(CountingDisk):
    """Kills the process at a call: before it, or in the middle of a write."""

    def __init__(self, at, half=False):
        super().__init__()
        self._at, self._half = at, half

    def _call(self, name):
        super()._call(name)
        if len(self.calls) - 1 >= self._at and not (self._half and name == "write"):
            raise Killed

    def write(self, file, data):
        super()._call("write")
        if len(self.calls) - 1 > self._at:
            raise Killed
        if len(self.calls) - 1 == self._at:
            if self._half:
                Disk.write(self, file, data[: len(data) // 2])
            raise Killed
        Disk.write(self, file, data)


class FullDisk(CountingDisk):
    """Has no room left from a certain write on, half of which still fits."""

    def __init__(self, at):
        super().__init__()
        self._at, self.writes = at, 0

    def write(self, file, data):
        self.writes += 1
        if self.writes - 1 >= self._at:
            Disk.write(self, file, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        super().write(file, data)


class RecordingDisk(Disk):
    """Writes as others do, and keeps a record of all calls."""

    def __init__(self, root):
        self._root = Path(root)
        self.record = []
        self._inodes = {}
        self._of_file = {}
        self._names = {}

    def _name(self, path):
        return os.path.relpath(os.path.abspath(path), self._root)

    def open(self, path, flags):
        file = super().open(path, flags)
        name = self._name(path)
        if name not in self._names:
            self._names[name] = len(self._inodes)
            self._inodes[self._names[name]] = name
            self.record.append(("link", name, self._names[name]))
        inode = self._names[name]
        self._of_file[file] = inode
        if flags & os.O_TRUNC:
            self.record.append(("truncate", inode, 0))
        return file

    def write(self, file, data):
        at = os.lseek(file, 0, os.SEEK_CUR)
        super().write(file, data)
        self.record.append(("write", self._of_file[file], at, bytes(data)))

    def truncate(self, file, length):
        super().truncate(file, length)
        self.record.append(("truncate", self._of_file[file], length))

    def sync(self, file):
        super().sync(file)
        self.record.append(("sync", self._of_file[file]))

    def rename(self, old, new):
        super().rename(old, new)
        old, new = self._name(old), self._name(new)
        self._names[new] = self._names.pop(old)
        self.record.append(("rename", old, new))

    def unlink(self, path):
        super().unlink(path)
        name = self._name(path)
        if self._names.pop(name, None) is not None:
            self.record.append(("unlink", name))

    def sync_folder(self, path):
        super().sync_folder(path)
        self.record.append(("sync_folder", self._name(path)))


def after_power_loss(record):
    """Give what a disk may hold after the calls of a record, as dicts of names to contents.

    Of a file's writes since its last sync, none, the first half, or all may have arrived, or its
    length alone; of the changes to a folder since its last sync, any. Nothing synced is lost.
    """
    durable_names, names_pending = {}, []
    synced, pending = {}, {}
    for call in record:
        kind = call[0]
        if kind in ("link", "rename", "unlink"):
            names_pending.append(call)
        elif kind == "sync_folder":
            here = [c for c in names_pending if _folder(c) == call[1]]
            durable_names = _renamed(durable_names, here)
            names_pending = [c for c in names_pending if _folder(c) != call[1]]
        elif kind == "sync":
            synced[call[1]] = _written(synced.get(call[1], b""), pending.pop(call[1], []))
        else:
            pending.setdefault(call[1], []).append(call)
    inodes = sorted({*synced, *pending})
    contents = [_variants(synced.get(inode, b""), pending.get(inode, [])) for inode in inodes]
    for size in range(len(names_pending) + 1):
        for kept in itertools.combinations(names_pending, size):
            names = _renamed(durable_names, kept)
            for chosen in itertools.product(*contents):
                content = dict(zip(inodes, chosen, strict=True))
                yield {name: content.get(inode, b"") for name, inode in names.items()}


def _folder(call):
    return os.path.dirname(call[2] if call[0] == "rename" else call[1]) or "."


def _renamed(names, calls):
    names = dict(names)
    for call in calls:
        if call[0] == "link":
            names[call[1]] = call[2]
        elif call[0] == "rename" and call[1] in names:
            names[call[2]] = names.pop(call[1])
        elif call[0] == "unlink":
            names.pop(call[1], None)
    return names


def _written(content, calls):
    for call in calls:
        if call[0] == "truncate":
            content = content[: call[2]].ljust(call[2], b"\0")
        else:
            at, data = call[2:]
            content = content.ljust(at, b"\0")
            content = content[:at] + data + content[at + len(data) :]
    return content


def _variants(content, calls):
    if not calls:
        return [content]
    after = _written(content, calls)
    half = _written(content, calls[: len(calls) // 2])
    torn = content[: len(content)] + after[len(content) : (len(content) + len(after)) // 2]
    zeros = content.ljust(len(after), b"\0")[: len(after)]
    return list({content: 0, after: 0, half: 0, torn: 0, zeros: 0})
