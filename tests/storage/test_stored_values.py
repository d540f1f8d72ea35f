import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from laconic.storage.manifest import Kind
from laconic.storage.reading import read_directory
from laconic.storage.values import decode, encode
from laconic.storage.writing import replacing


class ShelfError(ValueError):
    pass


SHELF = Kind(noun="shelf", manifest="shelf.json", format="laconic-shelf", version=1, error=ShelfError)


def roundtrip(value, path):
    with replacing(path, SHELF) as writer:
        writer.commit({"value": encode(value, "value", writer)})
    stored = read_directory(path, SHELF)
    return decode(stored.document["value"], "value", stored)


def identical(a, b):
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return list(a) == list(b) and all(identical(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(identical, a, b))
    return type(a) is type(b) and (a == b) and repr(a) == repr(b)


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
)
ARRAYS = hnp.arrays(
    st.sampled_from([np.dtype(x) for x in ("<f4", "<f8", "<i4", "<i8", "?")]),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
    elements={"allow_nan": False, "allow_infinity": False},
)
VALUES = st.recursive(
    SCALARS | ARRAYS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(SCALARS, inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(VALUES)
def test_every_value_comes_back_bit_for_bit(tmp_path_factory, value):
    assert identical(value, roundtrip(value, tmp_path_factory.mktemp("value")))


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_order_of_an_array_is_kept(order, tmp_path):
    value = np.asarray(np.arange(12.0).reshape(3, 4), order=order)
    loaded = roundtrip(value, tmp_path)
    assert loaded.flags[f"{order}_CONTIGUOUS"]
    np.testing.assert_array_equal(loaded, value)


def test_views_and_other_byte_orders(tmp_path):
    value = np.arange(24, dtype=">f8").reshape(4, 6)[::2, ::-3]
    loaded = roundtrip(value, tmp_path)
    assert loaded.dtype == np.dtype("<f8")
    np.testing.assert_array_equal(loaded, value)


def test_two_references_to_one_file_share_no_memory(tmp_path):
    with replacing(tmp_path, SHELF) as writer:
        reference = encode(np.zeros(3), "value", writer)
        writer.commit({"value": [reference, reference]})
    stored = read_directory(tmp_path, SHELF)
    one, two = decode(stored.document["value"], "value", stored)
    one[0] = 1
    assert two[0] == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.bool_])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("shape", [(5, 7), (0, 7), (5, 0), (0, 0), (1, 2**31 - 1)])
def test_csr_arrays(dtype, index, shape, tmp_path):
    rng = np.random.default_rng(0)
    columns = np.unique(rng.integers(max(shape[1], 1), size=4)) if shape[1] else np.zeros(0, int)
    data = (rng.random(len(columns) * shape[0]) * 9 - 4).astype(dtype)
    indptr = np.arange(shape[0] + 1) * len(columns)
    value = sparse.csr_array((data, np.tile(columns, shape[0]), indptr), shape=shape)
    value.indices, value.indptr = value.indices.astype(index), value.indptr.astype(index)
    loaded = roundtrip(value, tmp_path)
    assert isinstance(loaded, sparse.csr_array)
    assert loaded.shape == value.shape
    for part in ("data", "indices", "indptr"):
        assert identical(getattr(value, part), getattr(loaded, part)), part
    assert loaded.has_canonical_format


def test_explicit_zeros_of_a_csr_array_are_kept(tmp_path):
    value = sparse.csr_array((np.array([0.0, -0.0]), np.array([0, 2]), np.array([0, 2])), shape=(1, 3))
    assert identical(roundtrip(value, tmp_path).data, value.data)


def test_a_csr_array_is_brought_into_order_and_not_changed(tmp_path):
    value = sparse.csr_array((np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    loaded = roundtrip(value, tmp_path)
    np.testing.assert_array_equal(loaded.toarray(), [[2, 0, 4]])
    np.testing.assert_array_equal(value.indices, [2, 0, 2])


def test_a_csr_array_that_is_not_one_is_refused(tmp_path):
    value = sparse.csr_array(np.eye(3))
    assert value.has_canonical_format
    value.indices[0] = 7
    with pytest.raises(ShelfError, match="value is not a valid CSR array"):
        roundtrip(value, tmp_path)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (float("nan"), "value is nan; only finite"),
        ([1, [np.float32("inf")]], r"value\.1\.0 is inf; only finite"),
        ({float("inf"): 1}, "a key of value is inf"),
        (np.array([1, np.nan]), "value has NaN or infinite"),
        (np.array(["text"]), "list of strings"),
        (np.array([None]), "dtype object"),
        (np.zeros(2, np.uint16), "dtype uint16"),
        (np.zeros(2, [("a", "f8")]), "cannot be saved"),
        (np.ma.masked_array([1.0]), "MaskedArray"),
        (sparse.csc_array(np.eye(2)), "csc_array"),
        (sparse.csr_matrix(np.eye(2)), "csr_matrix"),
        (object(), "of type object"),
        (10**30, "31 digits"),
        pytest.param(10**5000, "could not be read back", id="5001 digits"),
        ("\ud800", "could not be read back"),
        (b"bytes", "of type bytes"),
        ({(1, 2): 3}, "a key of value"),
    ],
)
def test_what_could_not_be_read_back_is_refused(value, reason, tmp_path):
    with pytest.raises(ShelfError, match=reason) as caught:
        roundtrip(value, tmp_path)
    assert str(tmp_path) in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_values_that_contain_themselves_are_refused(tmp_path):
    value = []
    value.append(value)
    with pytest.raises(ShelfError, match="nested"):
        roundtrip(value, tmp_path)


def test_a_document_that_would_be_too_long_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("laconic.storage.writing.MAX_MANIFEST_BYTES", 1000)
    with pytest.raises(ShelfError, match="keep long lists as numpy arrays"):
        roundtrip(list(range(1000)), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("stem", ["", "a/b", "..", "a b", "ä", "x" * 300])
def test_names_that_could_not_be_files_are_refused(stem, tmp_path):
    with (
        pytest.raises(ShelfError, match="cannot be part of a file name"),
        replacing(tmp_path, SHELF) as writer,
    ):
        encode(np.zeros(1), stem, writer)
