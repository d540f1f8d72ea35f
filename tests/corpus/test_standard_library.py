import sys

import pytest

from laconic.corpus import Corpus, CorpusError, stdlib
from laconic.corpus.stdlib import standard_library


def test_documents():
    texts, labels, ids = standard_library()
    assert 2_000 < len(texts) < 8_000
    assert len(texts) == len(labels) == len(ids) == len(set(ids))
    assert all(len(text.split()) >= 20 for text in texts)
    assert {"json", "email", "asyncio", "random"} <= set(labels) <= sys.stdlib_module_names
    assert all(
        id == label or id.startswith((label + ".", label + "#"))
        for id, label in zip(ids, labels, strict=True)
    )
    assert "json.dumps" in ids
    assert not [id for id in ids if "site-packages" in id or ".test." in id or ".tests." in id]


def test_nothing_is_imported():
    standard_library()
    assert "antigravity" not in sys.modules


def test_the_lists_belong_to_the_caller():
    for part in standard_library():
        part.clear()
    assert all(standard_library())


def test_corpus():
    corpus = Corpus.standard_library(weighting="count")
    assert corpus.shape[0] == len(standard_library()[0])
    assert corpus.shape[1] > 1_000
    assert len(set(corpus.labels)) > 50


def test_order_and_names_depend_on_nothing_else(monkeypatch):
    def collect(names):
        monkeypatch.setattr(sys, "stdlib_module_names", names)
        return stdlib._collect.__wrapped__()

    once = collect(frozenset(["shutil", "subprocess", "json"]))
    assert once == collect(["subprocess", "json", "shutil"])
    assert sorted(set(once[1])) == ["json", "shutil", "subprocess"]


def test_sources(tmp_path, monkeypatch):
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    with pytest.raises(CorpusError, match="no source code of its standard library in"):
        stdlib._collect.__wrapped__()
    words = "word " * 20
    (tmp_path / "json" / "tests").mkdir(parents=True)
    (tmp_path / "json" / "tests" / "skipped.py").write_text("this is not Python")
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "skipped.py").write_text(f"'''{words}'''")
    (tmp_path / "json" / "__init__.py").write_bytes(
        f"# coding: latin-1\n'''{words}füße \\d'''".encode("latin-1")
    )
    source = f"""
if 1:
    def f():
        '''{words}'''
else:
    async def f():
        '''{words}'''
        class Inner:
            '''{words}'''
            def g(self): '''too short'''
try:
    pass
except ValueError:
    class C: '''{words}'''
"""
    (tmp_path / "re.py").write_text(source)
    texts, labels, ids = stdlib._collect.__wrapped__()
    assert ids == ("json", "re.f", "re.f#2", "re.f.Inner", "re.C")
    assert labels == ("json", "re", "re", "re", "re")
    assert texts[0].endswith("füße \\d")
