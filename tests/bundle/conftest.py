import pytest
from bundle_toys import MediaToy, Toy

from laconic.bundle import Bundle
from laconic.corpus import Vectorizer
from laconic.models import MODELS

TEXTS = [
    "the cat sat on the mat with another cat",
    "a dog and a cat sat together",
    "stock markets fell and bond markets rose",
    "the bond market and the stock exchange",
    "dogs chase cats; a dog sat down",
    "confidentialname bought stock",
]


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    monkeypatch.setitem(MODELS, "Toy", Toy)
    monkeypatch.setitem(MODELS, "MediaToy", MediaToy)


@pytest.fixture
def texts():
    return list(TEXTS)


@pytest.fixture
def vectorizer():
    vectorizer = Vectorizer(min_df=2, max_df=1.0, stop_words=None)
    vectorizer.fit_count(TEXTS)
    return vectorizer


@pytest.fixture
def bundle(vectorizer):
    return Bundle(Toy(3).fit(len(vectorizer.vocabulary)), vectorizer)


@pytest.fixture
def saved(bundle, tmp_path):
    path = tmp_path / "model"
    bundle.save(path)
    return path
