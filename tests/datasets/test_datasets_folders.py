import sys
from pathlib import Path
from typing import get_args

import pytest

import laconic
from laconic.datasets import DatasetError, available, folders, load, registry, search_folders


def test_the_named_folder_comes_before_the_cache(data, tmp_path, monkeypatch):
    assert search_folders() == [data, tmp_path / "cache" / "laconic"]
    monkeypatch.setenv("LACONIC_DATA", "")
    assert search_folders() == [tmp_path / "cache" / "laconic"]


@pytest.mark.skipif(sys.platform == "win32", reason="other variables")
def test_cache_without_its_variable(monkeypatch):
    for value in ("", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", value)
        assert folders.cache_folder() == Path.home() / ".cache" / "laconic"


def test_cache_on_windows(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert folders.cache_folder() == tmp_path / "laconic"


def test_nothing_there(data):
    infos = available()
    assert [info.name for info in infos] == sorted(registry.KNOWN)
    assert not any(info.present or info.folder for info in infos)
    assert all(info.description and info.source and info.size and info.kind for info in infos)


def test_present_in_either_folder_and_a_complete_one_first(data, retrieval, tmp_path):
    cache = tmp_path / "cache" / "laconic"
    cache.mkdir(parents=True)
    assert folders.lookup("adi").folder == retrieval
    retrieval.rename(cache / "adi")
    info = folders.lookup("adi")
    assert (info.folder, info.present) == (cache / "adi", True)
    retrieval.mkdir()
    assert folders.lookup("adi").folder == cache / "adi"
    (cache / "adi" / "qrels.tsv").unlink()
    info = folders.lookup("adi")
    assert (info.folder, info.present) == (retrieval, False)
    with pytest.raises(DatasetError, match=r"docs\.jsonl is missing .* get the data set again"):
        load("adi")


def test_other_folders_with_a_provenance(data, lines):
    lines("zoo/docs.jsonl.xz", [{"id": "1", "text": "red fish"}])
    (data / "zoo" / "PROVENANCE.md").write_text(
        "# zoo\n\nAnimals\n\nSource: a friend\n\nVerified: 1 documents"
    )
    (data / "no provenance").mkdir()
    assert "no provenance" not in [info.name for info in available()]
    info = available()[-1]
    assert (info.name, info.description, info.source) == ("zoo", "Animals", "a friend")
    assert (info.present, info.kind, info.size, info.folder) == (True, "text", "1 documents", data / "zoo")
    assert load("zoo").texts == ["red fish"]
    (data / "zoo" / "docs.jsonl.xz").unlink()
    with pytest.raises(DatasetError, match=r"zoo has no docs\.jsonl"):
        load("zoo")


def test_unknown_names(data):
    with pytest.raises(DatasetError, match="no data set 'cranfeld'; did you mean 'cranfield'"):
        load("cranfeld")
    with pytest.raises(DatasetError, match="no data set 'xyzzy'; `laconic datasets` lists"):
        load("xyzzy")
    for name in ("", "..", "../data/adi", "/"):
        with pytest.raises(DatasetError, match="no data set"):
            load(name)


def test_absent_tells_what_to_do(data, monkeypatch, tmp_path):
    with pytest.raises(DatasetError) as caught:
        load("cranfield")
    message = str(caught.value)
    for part in (
        "aerodynamics",
        "1,400 documents",
        "GitHub lailaglez/belief-network-irs",
        "downloads nothing",
    ):
        assert part in message
    assert f"LACONIC_DATA (now {data})" in message
    assert str(tmp_path / "cache" / "laconic") in message
    monkeypatch.setenv("LACONIC_DATA", str(tmp_path / "gone"))
    with pytest.raises(DatasetError, match=r"gone, no folder\)"):
        load("cranfield")


def test_types_of_load_are_those_of_the_registry():
    names = {
        "text": (*get_args(registry.TextName), "20newsgroups"),
        "retrieval": get_args(registry.RetrievalName),
        "images": get_args(registry.ImagesName),
        "graph": get_args(registry.GraphName),
    }
    for kind, listed in names.items():
        assert set(listed) == {name for name, known in registry.KNOWN.items() if known.kind == kind}


def test_an_attribute_of_the_package():
    assert laconic.datasets.available is available
