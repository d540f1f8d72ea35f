"""Priors among the parameters: readable in the file, checked on loading."""

import json
import re

import numpy as np
import pytest
from bundle_toys import Toy

from laconic import NMF, PLSA
from laconic.bundle import Bundle, BundleError, load
from laconic.priors import Exponential, Pareto, Prior, PseudoDirichlet
from stored_files import contents, edit

PRIORS = [Pareto(2.0), PseudoDirichlet(0.1, 3.0, "documents"), PseudoDirichlet(), Exponential(0)]


def document(path):
    return json.loads((path / "model.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_a_prior_comes_back(prior, tmp_path):
    Bundle(Toy(sizes=prior).fit()).save(tmp_path / "m")
    loaded = load(tmp_path / "m").model
    assert loaded.get_params() == Toy(sizes=prior).get_params()
    assert type(loaded.sizes) is type(prior)
    stored = document(tmp_path / "m")["parameters"]["sizes"]
    assert stored == {"prior": type(prior).__name__, "fields": vars(prior)}
    Bundle(loaded).save(tmp_path / "again")
    assert contents(tmp_path / "again") == contents(tmp_path / "m")


def test_numbers_of_numpy_become_plain(tmp_path):
    Bundle(Toy(sizes=Pareto(np.float32(0.5))).fit()).save(tmp_path / "m")
    assert load(tmp_path / "m").model.sizes == Pareto(0.5)


@pytest.mark.parametrize(
    "model",
    [
        PLSA(2, prior=Pareto(1.0), random_state=0),
        PLSA(2, prior=PseudoDirichlet(), random_state=0),
        NMF(2, loss="kl", prior=Exponential(1.0), random_state=0),
        NMF(2, loss="kl", random_state=0),
    ],
    ids=str,
)
def test_models_of_counts_come_back_with_counts(model, vectorizer, texts, tmp_path):
    model.fit(vectorizer.count(texts))
    bundle = Bundle(model, vectorizer)
    bundle.save(tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.model.get_params() == model.get_params()
    assert loaded.model.doc_density_ == model.doc_density_
    counted = model.transform(vectorizer.count(texts))
    weights = [
        one.toarray() if hasattr(one, "toarray") else one for one in (counted, loaded.transform(texts))
    ]
    assert weights[0].tobytes() == weights[1].tobytes()
    assert np.array_equal(loaded.vectorize(texts).toarray(), vectorizer.count(texts).toarray())


def test_a_prior_of_somebody_else_is_not_saved(tmp_path):
    class Mine(Prior):
        pass

    class Borrowed(Pareto):
        pass

    Borrowed.__name__ = "Pareto"
    for prior in (Mine(), Borrowed(1.0)):
        with pytest.raises(BundleError, match=r"parameters\.sizes is .*cannot be saved"):
            Bundle(Toy(sizes=prior).fit()).save(tmp_path / "m")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (
            {"prior": "Laplace", "fields": {"scale": 1}},
            "a prior called 'Laplace', which is not known .*Pareto",
        ),
        ({"prior": "Prior", "fields": {}}, "a prior called 'Prior', which is not known"),
        ({"prior": ["Pareto"], "fields": {}}, "a prior called .*, which is not known"),
        ({"prior": None, "fields": {}}, "not known"),
        ({"prior": "__init__", "fields": {}}, "not known"),
        ({"prior": "Pareto", "fields": {}}, "does not describe a prior Pareto .*shape"),
        ({"prior": "Pareto", "fields": {"shape": 1, "scale": 2}}, "does not describe a prior Pareto .*scale"),
        ({"prior": "Pareto", "fields": {"shape": -1}}, "shape must be a number of at least 0, not -1"),
        ({"prior": "Pareto", "fields": {"shape": "1"}}, "shape must be a number"),
        ({"prior": "Pareto", "fields": {"shape": True}}, "shape must be a number"),
        ({"prior": "Pareto", "fields": {"shape": None}}, "shape must be a number"),
        ({"prior": "Pareto", "fields": {"shape": [1]}}, "shape must be a number"),
        ({"prior": "Pareto", "fields": {"shape": {"array": "x"}}}, "shape must be a number"),
        ({"prior": "Pareto", "fields": {"__class__": 1}}, "does not describe a prior Pareto"),
        ({"prior": "Pareto", "fields": [["shape", 1]]}, "no object"),
        ({"prior": "PseudoDirichlet", "fields": {"eps": 0}}, "eps must be positive"),
        ({"prior": "PseudoDirichlet", "fields": {"over": "terms"}}, "over='terms' is not known"),
        ({"prior": "PseudoDirichlet", "fields": {"over": {}}}, "not known"),
        ({"prior": "Pareto"}, "unknown kind"),
        ({"prior": "Pareto", "fields": {"shape": 1}, "more": 1}, "unknown kind"),
    ],
)
def test_priors_are_checked_on_loading(value, reason, saved):
    edit(saved, lambda document: document["parameters"].update(sizes=value))
    with pytest.raises(BundleError) as refused:
        load(saved)
    message = str(refused.value)
    assert message.startswith(f"{saved / 'model.json'}: parameters.sizes ")
    assert re.search(reason, message), message


def test_a_prior_is_a_parameter_and_nothing_else(saved):
    edit(saved, lambda document: document["state"].update(scale={"prior": "Pareto", "fields": {"shape": 1}}))
    with pytest.raises(BundleError, match="unknown kind"):
        load(saved)


def test_a_prior_that_the_model_refuses_is_told(vectorizer, texts, tmp_path):
    model = PLSA(2, prior=Pareto(1.0), random_state=0).fit(vectorizer.count(texts))
    model.save(tmp_path / "m")
    value = {"prior": "Exponential", "fields": {"rate": 1}}
    edit(tmp_path / "m", lambda document: document["parameters"].update(prior=value))
    with pytest.raises(BundleError, match=r"does not describe a PLSA \(the exponential prior"):
        load(tmp_path / "m")
