import json
import os
import random
import re

import numpy as np
import pytest
from bundle_toys import Toy, same
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from laconic.bundle import Bundle, BundleError, load
from laconic.bundle.kind import MODEL
from laconic.storage.manifest import sealed
from stored_files import contents, edit, npy, swap

MANIFEST = MODEL.manifest


def refused(path, *parts):
    """Loading fails with a message that names the directory and has every part."""
    with pytest.raises(BundleError) as caught:
        load(path)
    message = str(caught.value)
    assert str(path) in message
    for part in parts:
        assert re.search(part, message), message


# --- accidents -----------------------------------------------------------------------


def test_every_truncation_is_detected(saved):
    rng = random.Random(0)
    whole = contents(saved)
    places = [(name, rng.randrange(len(content))) for name, content in whole.items() for _ in range(30)]
    places += [(name, len(content) - 1) for name, content in whole.items()]
    assert len(places) >= 200
    for name, length in places:
        (saved / name).write_bytes(whole[name][:length])
        refused(saved, re.escape(name))
        (saved / name).write_bytes(whole[name])
    load(saved)


def test_every_bit_flip_is_detected(saved):
    rng = random.Random(1)
    whole = contents(saved)
    names = sorted(whole) + [MANIFEST] * len(whole)
    for _ in range(300):
        name = rng.choice(names)
        damaged = bytearray(whole[name])
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        (saved / name).write_bytes(damaged)
        refused(saved)
        (saved / name).write_bytes(whole[name])
    load(saved)


def test_bytes_that_were_added_are_detected(saved):
    for name, content in contents(saved).items():
        for more in (b"\n", b" ", b"\x00" * 100):
            (saved / name).write_bytes(content + more)
            refused(saved, re.escape(name))
        (saved / name).write_bytes(content)


def test_every_missing_file_is_named(saved):
    for name, content in contents(saved).items():
        (saved / name).unlink()
        refused(saved, re.escape(name), "is missing")
        (saved / name).write_bytes(content)


def test_files_of_others_are_harmless_and_left_alone(bundle, saved):
    others = {
        "README.md": b"mine",
        ".hidden": b"",
        "components.npy": b"x",
        "notes-123.txt": b"y",
        "a b.tmp": b"",
    }
    for name, content in others.items():
        (saved / name).write_bytes(content)
    (saved / "folder-0123456789abcdef.npy").mkdir()
    assert same(load(saved).model, bundle.model)
    Bundle(Toy().fit()).save(saved)
    left = {name: (saved / name).read_bytes() for name in others}
    assert left == others
    assert (saved / "folder-0123456789abcdef.npy").is_dir()


# --- things that are not models ------------------------------------------------------


def test_not_a_directory(tmp_path):
    refused(tmp_path / "nothing", "does not exist")
    refused(tmp_path, "model.json: is missing", "no saved model")
    (tmp_path / "file").write_text("x")
    refused(tmp_path / "file", "is a file")
    (tmp_path / "odd" / MANIFEST).mkdir(parents=True)
    refused(tmp_path / "odd", "not a regular file")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            '{"format": "layers-model", "weights": []}',
            "holds the format 'layers-model', so it is not a laconic model",
        ),
        ('{"architecture": "x", "bias": 1}', "names no format .*'architecture', 'bias'"),
        ("[1, 2]", "holds a JSON list"),
        ('"laconic-bundle"', "holds a JSON str"),
        ('{"format": ["laconic-bundle"]}', "holds the format"),
        ("", "not JSON"),
        ("hello", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"format": "laconic-bundle", "x": ' + "[" * 500 + "]" * 500 + "}", "nested"),
        ('{"format": "laconic-bundle", "format_version": ' + "9" * 5000 + "}", "5000 digits"),
        ('{"format": "laconic-bundle", "x": NaN}', "NaN"),
        ('{"format": "laconic-bundle"}', "no valid format version"),
        ('{"format": "laconic-bundle", "format_version": true}', "no valid format version"),
        ('{"format": "laconic-bundle", "format_version": "1"}', "no valid format version"),
        ('{"format": "laconic-bundle", "format_version": 0}', "no valid format version"),
        ('{"format": "laconic-bundle", "format_version": 1}', "checksum"),
        ('{"format": "laconic-bundle", "format_version": 1, "x": 1e999}', "the number 1e999"),
        ('{"format": "laconic-bundle", "format_version": 1, "x": "\\ud800"}', "checksum"),
    ],
)
def test_foreign_documents_are_refused_by_name(text, reason, tmp_path):
    (tmp_path / MANIFEST).write_text(text, encoding="utf-8")
    refused(tmp_path, MANIFEST, reason)


def test_other_encodings_are_refused(saved):
    text = (saved / MANIFEST).read_text(encoding="utf-8")
    for encoding in ("utf-16", "utf-8-sig"):
        (saved / MANIFEST).write_bytes(text.encode(encoding))
        refused(saved, MANIFEST)


def test_a_document_that_is_too_long_is_not_read(saved, monkeypatch):
    monkeypatch.setattr("laconic.storage.reading.MAX_MANIFEST_BYTES", 1000)
    refused(saved, "too many")


def test_repeated_keys_are_refused(saved):
    text = (saved / MANIFEST).read_text(encoding="utf-8")
    (saved / MANIFEST).write_text(text.replace('"class": "Toy",', '"class": "Toy",\n "class": "Toy",'))
    refused(saved, "checksum")


def test_a_newer_format_says_so(saved):
    edit(saved, lambda document: document.update(format_version=4, files="something new"))
    refused(saved, r"was written by a newer laconic \(format 4; this one reads up to 3\): upgrade laconic")


def test_an_unknown_class_is_named(saved):
    edit(saved, lambda document: document.update({"class": "Tomorrow"}))
    refused(saved, "class 'Tomorrow', which laconic .* does not know", "Toy")
    edit(saved, lambda document: document.update({"class": ["Toy"]}))
    refused(saved, "does not know")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_only_regular_files_are_read(saved, tmp_path):
    name = next(name for name in contents(saved) if name.startswith("scale-"))
    content = (saved / name).read_bytes()
    (saved / name).unlink()
    os.mkfifo(saved / name)
    refused(saved, re.escape(name), "not a regular file")
    (saved / name).unlink()
    (tmp_path / "outside").write_bytes(content)
    (saved / name).symlink_to(tmp_path / "outside")
    refused(saved, re.escape(name), "not a regular file")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_named(saved):
    name = next(name for name in contents(saved) if name.startswith("scale-"))
    (saved / name).chmod(0)
    refused(saved, re.escape(name), "cannot be read")


# --- tampering by somebody who repairs the checksums ---------------------------------


@pytest.mark.parametrize("key", ["class", "parameters", "state", "vectorizer", "versions", "files"])
def test_every_part_of_the_document_is_needed(key, saved):
    edit(saved, lambda document: document.pop(key))
    refused(saved)


@pytest.mark.parametrize(
    "name",
    [
        "../outside.npy",
        "/etc/passwd",
        "..\\outside-0123456789abcdef.npy",
        "a/b-0123456789abcdef.npy",
        "../b-0123456789abcdef.npy",
        "C:b-0123456789abcdef.npy",
        "b-0123456789abcdef.npy\n",
        "b-0123456789abcdef.pkl",
        "..-0123456789abcdef.npy",
        "model.json",
        "",
        "a" * 300 + "-0123456789abcdef.npy",
    ],
)
def test_file_names_cannot_leave_the_directory(name, saved):
    edit(
        saved,
        lambda document: document["files"].update({name: {"bytes": 1, "sha256": "0123456789abcdef" * 4}}),
    )
    refused(saved, "no file name of a model")


@pytest.mark.parametrize(
    "entry",
    [
        None,
        [],
        {},
        {"bytes": 1},
        {"bytes": True, "sha256": "0" * 64},
        {"bytes": -1, "sha256": "1" * 64},
        {"sha256": 1},
    ],
)
def test_file_entries_are_checked(entry, saved):
    edit(saved, lambda document: document["files"].update({"b-0000000000000000.npy": entry}))
    refused(saved)


def replace(directory, stem, array):
    swap(directory, stem, npy(array))


@pytest.mark.parametrize(
    ("stem", "change", "reason"),
    [
        ("components.indices", lambda a: a + 1000, "column indices"),
        ("components.indices", lambda a: a - 1, "column indices"),
        ("components.indices", lambda a: a[::-1], "increase"),
        ("components.indices", np.zeros_like, "increase"),
        ("components.indices", lambda a: a[:-1], "differ in length"),
        ("components.indices", lambda a: a.astype(np.int64), "int64 and int32"),
        ("components.indices", lambda a: a.astype(np.float32), "float32"),
        ("components.indices", lambda a: a[None], "length"),
        ("components.indptr", lambda a: a[[0, 2, 1, 3]], "indptr decreases|increase"),
        ("components.indptr", lambda a: np.array([0, 2**31 - 1, 1, a[-1]], np.int32), "indptr decreases"),
        ("components.indptr", lambda a: np.array([0, -5, 1, a[-1]], np.int32), "indptr decreases"),
        ("components.indptr", lambda a: a[:-1], "indptr does not divide"),
        ("components.indptr", lambda a: a[:0], "indptr does not divide"),
        ("components.indptr", lambda a: a + 1, "indptr does not divide"),
        ("components.indptr", lambda a: np.append(a, a[-1]), "indptr does not divide"),
        ("components.data", lambda a: np.where(a > 0, np.nan, a), "NaN or infinite"),
        ("components.data", lambda a: np.full_like(a, np.inf), "NaN or infinite"),
        ("components.data", lambda a: a[1:], "differ in length"),
        ("scale", lambda a: np.append(a, np.float32(1)), "do not fit"),
        ("scale", lambda a: a * np.float32(np.nan), "NaN or infinite"),
        ("scale", lambda a: a.astype(np.complex64), "dtype '<c8'"),
        ("scale", lambda a: a.astype(np.float16), "dtype '<f2'"),
        ("scale", lambda a: a.astype(">f4"), "dtype '>f4'"),
        ("scale", lambda a: a.astype("<U8"), "dtype '<U8'"),
        ("vectorizer.idf", lambda a: a[1:], "does not describe a vectoriser"),
        ("vectorizer.idf", lambda a: -a, "does not describe a vectoriser"),
    ],
)
def test_arrays_are_checked_before_use(stem, change, reason, saved):
    (path,) = saved.glob(f"{stem}-*.npy")
    replace(saved, stem, np.ascontiguousarray(change(np.load(path))))
    refused(saved, reason)


@pytest.mark.parametrize(
    "shape", [[3, 5], [2, 8], [3], [3, -8], [3, 8.0], "33", None, [3, 2**40], [3, 10**19]]
)
def test_the_shape_of_a_csr_array_is_checked(shape, saved):
    edit(saved, lambda document: document["state"]["components"]["csr"].update(shape=shape))
    refused(saved, "CSR|does not describe")


@pytest.mark.parametrize(
    "shape",
    ["(10000000000000000,)", "(0, 999999999999999999, 999999999999999999)", f"({'1, ' * 70}1)", "(3, 4)"],
)
def test_absurd_shapes_take_no_memory(shape, saved):
    (path,) = saved.glob("scale-*.npy")
    swap(saved, "scale", npy(np.load(path), shape=shape))
    refused(saved, "scale-.*shape")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x93NUMPY",
        b"\x93NUMPY\x01\x00",
        b"\x93NUMPY\x02\x00\x00\x00\x00\x00",
        b"\x93NUMPY\x01\x00\xff\xff{",
        npy(np.zeros(3), descr="|O"),
        npy(np.zeros(3), shape="(-3,)"),
        npy(np.zeros(3), shape="(3, )"),
        npy(np.zeros(3), shape="(" * 100),
        npy(np.zeros(3), shape="(3,) + __import__('os').abort()"),
        npy(np.zeros(3), descr="<f8', 'x': '"),
        npy(np.array([0, 1, 2], np.uint8), descr="|b1"),
        b"cos\nsystem\n(S'false'\ntR.",
    ],
)
def test_malformed_arrays_are_refused(content, saved):
    swap(saved, "scale", content)
    refused(saved, "scale-")


def test_a_real_pickle_is_refused(saved, tmp_path):
    np.save(tmp_path / "objects.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    swap(saved, "scale", (tmp_path / "objects.npy").read_bytes())
    refused(saved, r"scale-.*dtype '\|O'")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"array": "scale-0000000000000000.npy"}, "not among its files"),
        ({"array": None}, "not among its files"),
        ({"array": ["x"]}, "not among its files"),
        ({}, "unknown kind"),
        ({"array": "x", "csr": {}}, "unknown kind"),
        ({"pickle": "x"}, "unknown kind"),
        ({"csr": {"data": "x"}}, "CSR"),
        ({"csr": 3}, "unknown kind"),
        ({"tuple": 3}, "unknown kind"),
        ({"mapping": [[1]]}, "not a pair"),
        ({"mapping": [[[1], 2]]}, "not a pair"),
        ({"mapping": [[1, 2], [1, 3]]}, "twice"),
        (3, "does not describe a Toy"),
        (None, "does not describe a Toy"),
    ],
)
def test_values_of_the_state_are_checked(value, reason, saved):
    edit(saved, lambda document: document["state"].update(scale=value))
    refused(saved, reason)


def test_a_text_file_is_not_an_array_nor_the_other_way_round(saved):
    edit(
        saved,
        lambda document: document["state"].update(scale={"array": document["vectorizer"]["vocabulary"]}),
    )
    refused(saved, "npy header")


def test_an_array_is_not_a_vocabulary(saved):
    edit(
        saved, lambda document: document["vectorizer"].update(vocabulary=document["state"]["scale"]["array"])
    )
    refused(saved, "as a vocabulary")


def test_missing_state_and_unknown_parameters_are_refused(saved):
    edit(saved, lambda document: document["parameters"].update(beta=1))
    refused(saved, "parameter 'beta', which Toy does not have")
    edit(saved, lambda document: (document["parameters"].pop("beta"), document["state"].pop("scale")))
    refused(saved, "does not describe a Toy", "scale")


@pytest.mark.parametrize("content", [b"\xff\n", b"one\ntwo", b"", b"same\n" * 9, b"\n" * 9, b"fewer\n"])
def test_the_vocabulary_is_checked(content, saved):
    swap(saved, "vocabulary", content)
    refused(saved)


@pytest.mark.parametrize("change", [{"idf": None}, {"settings": None}, {"settings": {"x": 1}}, {"more": 1}])
def test_the_vectoriser_is_checked(change, saved):
    edit(saved, lambda document: document["vectorizer"].update(change))
    refused(saved, "vectori[sz]er")


def test_a_vocabulary_of_another_size_is_refused_on_loading(saved, vectorizer):
    n_terms = len(vectorizer.vocabulary) - 1
    swap(saved, "vocabulary", "".join(f"term{i}\n" for i in range(n_terms)).encode())
    replace(saved, "vectorizer.idf", np.ones(n_terms))
    refused(saved, f"vocabulary has {n_terms} terms, but the model was fitted on {n_terms + 1}")


# --- fuzzing -------------------------------------------------------------------------

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    # Lone surrogates cannot be written as UTF-8 in the first place.
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["array", "csr", "tuple", "mapping", "prior", "fields", "x"]), inner, max_size=2
        )
    ),
    max_leaves=8,
)
FUZZ = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)


def places(node, path=()):
    yield path
    if isinstance(node, dict | list):
        for key in node if isinstance(node, dict) else range(len(node)):
            yield from places(node[key], (*path, key))


@FUZZ
@given(data=st.data())
def test_any_document_is_loaded_or_refused(saved, data):
    raw = (saved / MANIFEST).read_bytes()
    document = json.loads(raw)
    del document["checksum"]
    path = data.draw(st.sampled_from([p for p in places(document) if p and not p[0].startswith("format")]))
    node = document
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = data.draw(JSON)
    (saved / MANIFEST).write_bytes(sealed(document))
    try:
        loaded = load(saved)
    except BundleError:
        pass
    else:
        assert isinstance(loaded, Bundle)
    finally:
        (saved / MANIFEST).write_bytes(raw)


@FUZZ
@given(data=st.data())
def test_any_array_file_is_loaded_or_refused(saved, data):
    before = contents(saved)
    name = data.draw(st.sampled_from([n for n in sorted(before) if n.endswith(".npy")]))
    content = bytearray(before[name])
    for _ in range(data.draw(st.integers(1, 4))):
        where = data.draw(st.integers(0, len(content) - 1))
        content[where : where + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    swap(saved, name.rsplit("-", 1)[0], bytes(content))
    try:
        loaded = load(saved)
    except BundleError:
        pass
    else:
        assert isinstance(loaded, Bundle)
    finally:
        for path in saved.iterdir():
            path.unlink()
        for name, content in before.items():
            (saved / name).write_bytes(content)
