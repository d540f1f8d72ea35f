"""What tests do to stored directories."""

import hashlib
import json
import os
from pathlib import Path

from laconic.storage.manifest import sealed
from laconic.storage.writing import _HashedSink


class Stopped(BaseException):
    """What ends a save in the middle."""


def stop_at(monkeypatch, step, error):
    """Make the given call of write, sync or rename fail; count the calls."""
    calls = [0]

    def failing(function):
        def call(*args, **kwargs):
            calls[0] += 1
            if calls[0] == step:
                raise error
            return function(*args, **kwargs)

        return call

    monkeypatch.setattr(_HashedSink, "write", failing(_HashedSink.write))
    monkeypatch.setattr(os, "fsync", failing(os.fsync))
    monkeypatch.setattr(Path, "replace", failing(Path.replace))
    return calls


def manifest(directory):
    (path,) = Path(directory).glob("*.json")
    return path


def listed(directory):
    """The names of the files that belong to a directory."""
    path = manifest(directory)
    return {path.name, *json.loads(path.read_text(encoding="utf-8"))["files"]}


def contents(directory):
    return {path.name: path.read_bytes() for path in Path(directory).iterdir()}


def edit(directory, change):
    """Change the document as somebody would who also repairs its checksum."""
    path = manifest(directory)
    document = json.loads(path.read_text(encoding="utf-8"))
    del document["checksum"]
    change(document)
    path.write_bytes(sealed(document))


def swap(directory, stem, content):
    """Give a file another content, with name, size and checksums as they should be."""
    (old,) = [p for p in Path(directory).iterdir() if p.name.startswith(f"{stem}-")]
    sha256 = hashlib.sha256(content).hexdigest()
    new = old.with_name(f"{stem}-{sha256[:16]}{old.suffix}")
    old.unlink()
    new.write_bytes(content)
    path = manifest(directory)
    document = json.loads(path.read_text(encoding="utf-8").replace(old.name, new.name))
    del document["checksum"]
    document["files"][new.name] = {"bytes": len(content), "sha256": sha256}
    path.write_bytes(sealed(document))


def npy(array, descr=None, shape=None):
    """The bytes of an array file, with a header that may lie."""
    descr = descr or array.dtype.str
    shape = array.shape if shape is None else shape
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(11 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + array.tobytes()
