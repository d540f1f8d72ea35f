import pytest
from cli_documents import documents, write_jsonl
from typer.testing import CliRunner

from laconic import Bundle, Corpus, load
from laconic.cli.app import app


@pytest.fixture(scope="session")
def rows():
    return documents()


@pytest.fixture(scope="session")
def jsonl(rows, tmp_path_factory):
    return write_jsonl(tmp_path_factory.mktemp("data") / "texts.jsonl", rows)


@pytest.fixture(scope="session")
def corpus(rows):
    """The counts of the same documents."""
    return Corpus.from_texts([row["body"] for row in rows], labels=[row["kind"] for row in rows])


@pytest.fixture(scope="session")
def without_documents(saved, tmp_path_factory):
    """The same model, without the documents that it was fitted to."""
    path = tmp_path_factory.mktemp("models") / "model"
    bundle = load(saved)
    Bundle(bundle.model, bundle.vectorizer).save(path)
    return path


@pytest.fixture(scope="session")
def saved(jsonl, tmp_path_factory):
    """A model of three topics, fitted by the command."""
    path = tmp_path_factory.mktemp("models") / "model"
    arguments = ["fit", jsonl, "--text", "body", "--label", "kind", "-k", 3, "--words", 8, "-o", path]
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.stderr
    return path
