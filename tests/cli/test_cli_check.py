"""``laconic check``: what is whole, and what is not."""

import json
from pathlib import Path

import pytest

from laconic import RLSI, SearchIndex, load
from laconic.engines import Checkpoint
from laconic.wholeness import check_directory


def damage(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.fixture
def checkpoint(corpus, tmp_path):
    """A fit that was stopped."""
    checkpoint = Checkpoint(tmp_path / "c", every=0)
    model = RLSI(3, topic_norm="l0", doc_norm="l1", random_state=0)
    model.fit(corpus.X, callback=lambda progress: progress.phase == "fit", checkpoint=checkpoint)
    return tmp_path / "c"


def test_whole_directories(laconic, saved, corpus, checkpoint, tmp_path):
    corpus.save(tmp_path / "corpus")
    SearchIndex(load(saved)).save(tmp_path / "index")
    result = laconic("check", saved, tmp_path / "corpus", tmp_path / "index", checkpoint)
    lines = result.stdout.splitlines()
    assert len(lines) == 4
    assert ": intact model: RLSI, 3 topics, 90 documents, with their texts; " in lines[0]
    assert ": intact corpus: 90 documents, " in lines[1]
    assert "with settings of its search" in lines[2]
    assert ": intact checkpoint: of RLSI, run 1, iteration 1; " in lines[3]


def files_of(kind, saved, corpus, checkpoint, tmp_path):
    if kind == "checkpoint":
        return checkpoint
    if kind == "corpus":
        corpus.save(tmp_path / "corpus")
        return tmp_path / "corpus"
    load(saved).save(tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("kind", ["model", "corpus", "checkpoint"])
def test_every_damaged_or_missing_file_is_named(kind, saved, corpus, checkpoint, tmp_path, laconic):
    folder = files_of(kind, saved, corpus, checkpoint, tmp_path)
    check_directory(folder)
    listed = json.loads((folder / f"{kind}.json").read_text())["files"]
    for name in [f"{kind}.json", *(name for name in listed if listed[name]["bytes"])]:
        path = folder / name
        content = path.read_bytes()
        damage(path)
        with pytest.raises(ValueError, match=name):
            check_directory(folder)
        path.unlink()
        with pytest.raises(ValueError, match=name if name in listed else "holds no model"):
            check_directory(folder)
        path.write_bytes(content)
    damage(folder / name)
    result = laconic("check", saved, folder, code=1)
    assert f"{name}: is damaged" in result.stderr
    assert "intact model" in result.stdout


def test_what_is_nothing_of_ours_is_said(laconic, tmp_path):
    assert "does not exist" in laconic("check", tmp_path / "no", code=1).stderr
    assert "holds no model" in laconic("check", tmp_path, code=1).stderr


def test_earlier_formats_are_whole():
    for folder in Path(__file__).parents[1].glob("corpus/corpus-format-*"):
        assert check_directory(folder).noun == "corpus"
