import mmap

import numpy as np
import pytest

from laconic.storage.arrays import add_array, add_blocks, read_array
from laconic.storage.manifest import Kind
from laconic.storage.reading import read_directory
from laconic.storage.writing import replacing
from stored_files import contents, edit, swap


class ShelfError(ValueError):
    pass


SHELF = Kind(noun="shelf", manifest="shelf.json", format="laconic-shelf", version=3, error=ShelfError)
VALUES = np.arange(10, dtype=np.float32)


@pytest.fixture
def saved(tmp_path):
    with replacing(tmp_path, SHELF) as writer:
        text = writer.add("greeting", "txt", lambda sink: sink.write(b"hello"))
        writer.commit({"values": add_array(VALUES, "values", writer), "text": text})
    return tmp_path


def test_files_are_read_or_arrays_among_them_mapped(saved):
    for mapped, kind in ((False, bytearray), (True, mmap.mmap)):
        stored = read_directory(saved, SHELF, mapped=mapped)
        values, text = (stored.take(stored.document[key]) for key in ("values", "text"))
        assert isinstance(values, kind)
        assert isinstance(text, bytearray)
        array = read_array(stored.document["values"], stored)
        np.testing.assert_array_equal(array, VALUES)
        assert array.flags.writeable is not mapped


def test_two_takers_of_a_map_share_it_and_two_of_memory_do_not(saved):
    for mapped in (False, True):
        stored = read_directory(saved, SHELF, mapped=mapped)
        one, two = (read_array(stored.document["values"], stored) for _ in range(2))
        assert np.shares_memory(one, two) is mapped


def test_a_mapped_file_is_not_read_if_it_is_not_to_be_verified(saved):
    (file,) = saved.glob("values-*.npy")
    content = file.read_bytes()
    file.write_bytes(content[:-4] + np.float32(np.nan).tobytes())
    stored = read_directory(saved, SHELF, mapped=True, verify=False)
    assert np.isnan(read_array(stored.document["values"], stored)[-1])
    for options in ({}, {"mapped": True}, {"verify": False}):
        with pytest.raises(ShelfError, match=r"values-.*checksum differs"):
            read_directory(saved, SHELF, **options)
    file.write_bytes(content[:-1])
    with pytest.raises(ShelfError, match=r"values-.*has 167 bytes where 168 were saved"):
        read_directory(saved, SHELF, mapped=True, verify=False)


def test_an_empty_file_is_no_array_mapped_or_not(saved):
    swap(saved, "values", b"")
    for mapped in (False, True):
        stored = read_directory(saved, SHELF, mapped=mapped)
        with pytest.raises(ShelfError, match=r"values-.*no valid \.npy header"):
            read_array(stored.document["values"], stored)


def test_a_file_that_shrinks_before_it_is_mapped_is_refused(saved, monkeypatch):
    def too_late(*args, **kwargs):
        raise ValueError("mmap length is greater than file size")

    monkeypatch.setattr(mmap, "mmap", too_late)
    with pytest.raises(ShelfError, match=r"values-.*became shorter"):
        read_directory(saved, SHELF, mapped=True)


@pytest.mark.parametrize("dtype", ["<f4", "<f8", "<i4", "<i8", ">i4"])
def test_an_array_in_blocks_is_stored_like_a_whole_one(dtype, tmp_path):
    value = np.arange(10).astype(dtype)
    with replacing(tmp_path, SHELF) as writer:
        whole = add_array(value, "values", writer)
        assert add_blocks([value[:3], value[3:3], value[3:]], 10, value.dtype, "values", writer) == whole
        assert add_blocks([], 0, value.dtype, "none", writer) == add_array(value[:0], "none", writer)


def test_messages_have_the_words_of_the_kind(saved, tmp_path_factory):
    with pytest.raises(ShelfError, match=r"shelf\.json: is missing; this is no saved shelf, give a shelf's"):
        read_directory(tmp_path_factory.mktemp("empty"), SHELF)
    edit(saved, lambda document: document.update(format_version=4))
    with pytest.raises(ShelfError, match="format 4; this one reads up to 3"):
        read_directory(saved, SHELF)
    edit(saved, lambda document: document.update(format="laconic-box"))
    with pytest.raises(ShelfError, match="holds the format 'laconic-box', so it is not a laconic shelf"):
        read_directory(saved, SHELF)
    before = contents(saved)
    box = Kind(noun="box", manifest="box.json", format="laconic-box", version=1, error=ShelfError)
    with pytest.raises(ShelfError, match="holds no laconic box"), replacing(saved, box):
        pytest.fail("another kind of directory was taken over")
    assert contents(saved) == before
