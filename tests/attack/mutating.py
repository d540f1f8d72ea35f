"""Stored directories that were changed by somebody who knows their format and repairs every checksum.

Nothing here knows what is stored: documents are walked as JSON, and files by their suffix.
"""

import hashlib
import json
import random
import re
from pathlib import Path

import numpy as np

from laconic.storage.manifest import sealed

VALUES = [
    None, True, False, 0, 1, -1, 2, 7, 2**31 - 1, 2**31, 10**9, 10**12, 2**63 - 1, 2**63, 10**19, 0.5, -0.5,
    1e-300, 1e-30, 1e30, 1e300, -1e300, "", "x", "l1", "sun", "nan", "\u202e\x1b[31m", "a" * 5000, [], {},
    [0], [[]], {"array": "x"}, {"tuple": []}, {"mapping": [[1, 2], [1, 2]]}, {"csr": {}},
    {"prior": "Pareto", "fields": {"shape": 1e300}},
]  # fmt: skip
NUMBERS = [
    0,
    1,
    -1,
    2,
    2**31 - 1,
    -(2**31),
    2**63 - 1,
    -(2**63),
    1e-300,
    1e-38,
    -1e-38,
    1e38,
    -1e38,
    1e300,
    -1e300,
]
LINES = [
    b"",
    b"\n",
    b'"x"\n',
    b"sun\n",
    b"\xff\xfe\n",
    b'"\\ud800"\n',
    b"\x00\n",
    b"[1]\n",
    b"z" * 4000 + b"\n",
    b'"1" , "2"\n',
]
_HEADER = re.compile(rb"'descr': '([^']*)', 'fortran_order': (True|False), 'shape': \(([0-9, ]*)\)")


class Stored:
    """A stored directory in memory, which can be written to another place with changes."""

    def __init__(self, path):
        (manifest,) = Path(path).glob("*.json")
        self.name = manifest.name
        self.document = json.loads(manifest.read_text(encoding="utf-8"))
        self.files = {name: (Path(path) / name).read_bytes() for name in self.document["files"]}
        # what earlier versions alone need
        others = [one for one in Path(path).iterdir() if one.is_file() and one.name != self.name]
        self.others = {one.name: one.read_bytes() for one in others if one.name not in self.files}
        # what lies beside it, such as the index of an old format
        self.folders = {one.name: Stored(one) for one in Path(path).iterdir() if one.is_dir()}

    def write(self, path, document, files, folders):
        """Write with checksums, sizes and names as they should be."""
        path.mkdir(parents=True)
        for name, content in self.others.items():
            (path / name).write_bytes(content)
        text = json.dumps({key: value for key, value in document.items() if key not in ("files", "checksum")})
        listed = {}
        for name, content in files.items():
            sha256 = hashlib.sha256(content).hexdigest()
            stem, suffix = name[: name.rindex("-")], name.rpartition(".")[2]
            new = f"{stem}-{sha256[:16]}.{suffix}"
            text = text.replace(name, new)
            listed[new] = {"bytes": len(content), "sha256": sha256}
            (path / new).write_bytes(content)
        (path / self.name).write_bytes(sealed({**json.loads(text), "files": listed}))
        for name, (stored, *changed) in folders.items():
            stored.write(path / name, *changed)

    def as_it_is(self):
        """What `write` takes, all but the place."""
        folders = {name: (one, *one.as_it_is()) for name, one in self.folders.items()}
        return self.document, self.files, folders

    def write_same(self, path):
        """Write it as it is, all but for checksums that are made again."""
        self.write(path, *self.as_it_is())

    def mutated(self, rng, path):
        """Write a mutant, and say what was done."""
        changed, done = self._changed(rng)
        self.write(path, *changed)
        return done

    def _changed(self, rng):
        """What `write` takes, with changes in it or in one of its folders, and what was done."""
        document, files, folders = self.as_it_is()
        inside = rng.choice(sorted(self.folders)) if self.folders and rng.random() < 0.7 else None
        if inside is not None:
            one = self.folders[inside]
            changed, done = one._changed(rng)
            return (document, files, {**folders, inside: (one, *changed)}), done
        document, files = json.loads(json.dumps(document)), dict(files)
        done = [_mutate(document, files, rng) for _ in range(rng.choice([1, 1, 1, 2, 3]))]
        return (document, files, folders), "; ".join(done)


def _mutate(document, files, rng):
    npy = [name for name in files if name.endswith(".npy")]
    txt = [name for name in files if name.endswith(".txt")]
    kinds = [_change_document] * 5 + [_change_numbers] * (4 * bool(npy)) + [_change_shape] * (2 * bool(npy))
    kinds += [_change_lines] * (2 * bool(txt)) + [_swap_files] * bool(files)
    kind = rng.choice(kinds)
    if kind is _change_document:
        return _change_document(document, rng)
    if kind is _swap_files:
        return _swap_files(document, files, rng)
    name = rng.choice(sorted(txt if kind is _change_lines else npy))
    files[name], what = kind(files[name], rng)
    return f"{name}: {what}"


def _places(value, found, trail):
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if not trail and key in ("files", "checksum", "format", "format_version", "versions"):
            continue
        found.append((value, key, (*trail, key)))
        _places(item, found, (*trail, key))


def _change_document(document, rng):
    found = []
    _places(document, found, ())
    holder, key, trail = rng.choice(found)
    where = ".".join(map(str, trail))
    kind = rng.random()
    if kind < 0.7:
        value = rng.choice(VALUES)
        if isinstance(holder[key], int | float) and rng.random() < 0.7:
            value = rng.choice(NUMBERS)
        holder[key] = json.loads(json.dumps(value))
        return f"{where} = {value!r:.60}"
    if kind < 0.8:
        del holder[key]
        return f"{where} removed"
    if kind < 0.9:
        other = rng.choice(found)
        holder[key] = json.loads(json.dumps(other[0][other[1]])) if other[1] in _keys(other[0]) else None
        return f"{where} = {'.'.join(map(str, other[2]))}"
    if isinstance(holder, list):
        holder.extend([json.loads(json.dumps(holder[key]))] * rng.choice([1, 3, 100]))
        return f"{where} repeated"
    holder[f"{key}_new"] = json.loads(json.dumps(holder[key]))
    return f"{where} twice, under another name"


def _keys(holder):
    return holder if isinstance(holder, dict) else range(len(holder))


def _swap_files(document, files, rng):
    one, other = rng.choice(sorted(files)), rng.choice(sorted(files))
    text = json.dumps({key: value for key, value in document.items() if key != "files"})
    document.update(json.loads(text.replace(one, other)))
    return f"{other} in place of {one}"


def _parsed(content):
    end = 10 + int.from_bytes(content[8:10], "little")
    descr, order, shape = _HEADER.search(content[:end]).groups()
    return descr.decode(), order, [int(n) for n in shape.split(b",") if n.strip()], content[end:]


def _built(descr, shape, data, order=b"False"):
    dims = f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
    header = f"{{'descr': '{descr}', 'fortran_order': {order.decode()}, 'shape': {dims}, }}"
    header += " " * (-(11 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data


def _change_numbers(content, rng):
    descr, order, shape, data = _parsed(content)
    array = np.frombuffer(data, descr).copy()
    if not array.size:
        return content, "nothing to change"
    kind = rng.random()
    with np.errstate(all="ignore"):
        if kind < 0.6:
            for _ in range(rng.choice([1, 1, 2, array.size])):
                number = rng.choice(NUMBERS)
                array[rng.randrange(array.size)] = _cast(number, array.dtype)
            what = f"numbers such as {number}"
        elif kind < 0.75:
            array[:] = _cast(rng.choice(NUMBERS), array.dtype)
            what = f"all {array[0]}"
        elif kind < 0.85:
            array = array[::-1].copy()
            what = "turned round"
        else:
            np.random.default_rng(rng.randrange(2**32)).shuffle(array)
            what = "shuffled"
    return _built(descr, shape, array.tobytes(), order), what


def _cast(number, dtype):
    if dtype.kind in "iu":
        bounds = np.iinfo(dtype)
        return int(min(max(number, bounds.min), bounds.max))
    if dtype.kind == "b":
        return bool(number)
    return min(max(float(number), float(np.finfo(dtype).min)), float(np.finfo(dtype).max))


def _change_shape(content, rng):
    descr, order, shape, data = _parsed(content)
    kind = rng.randrange(5)
    if kind == 0:
        shape = shape[::-1] if len(shape) > 1 else [1, *shape]
    elif kind == 1:
        shape = [rng.choice([10**6, 10**12, 2**40]), 0]
        data = b""
    elif kind == 2:
        descr = rng.choice(["<f4", "<f8", "<i4", "<i8", "|u1", "|b1"])
        count = int(np.prod(shape)) * np.dtype(descr).itemsize
        data = (data * (count // max(len(data), 1) + 1))[:count]
        data = bytes(byte & 1 for byte in data) if descr == "|b1" else data
    elif kind == 3 and shape:
        size = np.dtype(descr).itemsize * int(np.prod(shape[1:]))
        shape[0] = max(shape[0] + rng.choice([-1, 1, 2]), 0)
        data = (data + bytes(size * 3))[: shape[0] * size]
    else:
        shape, data = [0] * len(shape), b""
    return _built(descr, shape, data, order), f"a {descr} of shape {shape}"


def _change_lines(content, rng):
    lines = content.splitlines(keepends=True) or [b""]
    place = rng.randrange(len(lines))
    kind = rng.randrange(6)
    if kind >= 4:
        # a word of a line, such as a number of an old ranker's trees
        words = re.split(rb"([ =])", lines[place].rstrip(b"\n"))
        words[rng.randrange(0, len(words), 2)] = str(rng.choice(NUMBERS)).encode()
        lines[place] = b"".join(words) + b"\n"
        return b"".join(lines), "a number in a line"
    if kind == 0:
        del lines[place]
    elif kind == 1:
        lines.insert(place, lines[rng.randrange(len(lines))])
    elif kind == 2:
        lines[place] = rng.choice(LINES)
    else:
        return b"".join(lines)[:-1], "the last byte cut off"
    return b"".join(lines), ("a line less", "a line twice", "another line")[kind]


def seeded(seed, name, number):
    """Random choices of one mutant, which can be made again by itself."""
    return random.Random(f"{seed} {name} {number}")
