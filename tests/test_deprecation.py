"""Parameters under their former names."""

import inspect

import pytest
from sklearn.base import BaseEstimator, clone

from laconic import RLSI, Corpus, GroupRLSI, MultimodalPLSA, SearchIndex, deprecation
from laconic.deprecation import Renamed, accepts_former_names, current_names
from laconic.models.making import make_model


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setitem(deprecation.RENAMED, "Toy", {"lamda": Renamed("alpha", "0.9")})

    @accepts_former_names
    class Toy(BaseEstimator):
        def __init__(self, alpha=1.0):
            self.alpha = alpha

    return Toy


SAID = r"Toy: lamda has been renamed to alpha; the old name will be removed in version 0\.9"


def test_a_former_name_is_accepted_with_a_warning(toy):
    with pytest.warns(FutureWarning, match=SAID) as caught:
        assert toy(lamda=2.0).alpha == 2.0
    assert caught[0].filename == __file__
    with pytest.warns(FutureWarning, match=SAID):
        assert toy().set_params(lamda=3.0).alpha == 3.0


def test_todays_names_are_those_of_the_signature(toy):
    assert list(inspect.signature(toy).parameters) == ["alpha"]
    assert toy(2.0).get_params() == {"alpha": 2.0}
    assert clone(toy(alpha=4.0)).alpha == 4.0


def test_both_names_are_one_too_many(toy):
    with pytest.raises(TypeError, match="give one of them, not both"):
        toy(lamda=1.0, alpha=2.0)


def test_models_by_name(monkeypatch):
    monkeypatch.setitem(deprecation.RENAMED, "RLSI", {"lambda_docs": Renamed("alpha_docs", "0.9")})
    with pytest.warns(FutureWarning, match="lambda_docs has been renamed to alpha_docs"):
        made = make_model("rlsi", lambda_docs=0.2)
    assert isinstance(made, RLSI)
    assert made.alpha_docs == 0.2


def test_others_are_left_alone():
    assert current_names("RLSI", {"alpha_docs": 0.1}) == {"alpha_docs": 0.1}


def test_attributes_under_their_former_names():
    X, y = [[2, 1, 0, 0], [1, 2, 0, 1], [0, 0, 1, 2], [1, 0, 2, 1]], ["sky", "sky", "sea", "sea"]
    groups = GroupRLSI(1, 1, random_state=0).fit(X, y)
    with pytest.warns(FutureWarning, match="topic_group_ has been renamed to topic_class_; .* version 0.3"):
        assert groups.topic_group_.tolist() == groups.topic_class_.tolist()
    several = MultimodalPLSA(2, random_state=0).fit({"de": X, "en": X})
    with pytest.warns(FutureWarning, match="weights_ has been renamed to modality_weights_"):
        assert several.weights_ is several.modality_weights_
    assert not hasattr(MultimodalPLSA(), "weights_")


def test_an_index_of_a_corpus_by_its_former_name():
    corpus = Corpus.from_texts(["sun moon", "moon sun", "salt pepper", "pepper salt"])
    model = RLSI(2, random_state=0).fit(corpus.X)
    with pytest.warns(FutureWarning, match="SearchIndex: corpus has been renamed to source"):
        index = SearchIndex(corpus=corpus, model=model)
    assert index.n_documents == 4
