"""A model says what it is, and nobody outside has to guess."""

import ast
from pathlib import Path

import numpy as np
import pytest
from modality_toys import planted_modalities
from planting import planted
from sklearn.exceptions import NotFittedError

import laconic
from laconic import NMF, PLSA, RLSI, GraphPLSA, GroupNMF, GroupRLSI, MultimodalPLSA, SparseLSA, priors
from laconic.corpus import Vectorizer
from laconic.models import MODELS
from laconic.models.traits import Traits

SOURCE = Path(laconic.__file__).parent

EXPECTED = [
    (RLSI(nonnegative=True), Traits()),
    (SparseLSA(nonnegative=True, groups=[0, 1]), Traits()),
    (NMF(), Traits(nonnegative=True)),
    (NMF(loss="kl"), Traits(wants="counts", nonnegative=True)),
    (NMF(loss="kl", prior=priors.Pareto(1)), Traits(wants="counts", nonnegative=True, prior=True)),
    (PLSA(), Traits(wants="counts", nonnegative=True)),
    (PLSA(prior=priors.Pareto(1)), Traits(wants="counts", nonnegative=True, prior=True)),
    (GraphPLSA(), Traits(wants="counts", nonnegative=True, links=True)),
    (MultimodalPLSA(), Traits(wants="counts", nonnegative=True, links=True, modalities=True)),
    (GroupRLSI(), Traits(classes=True)),
    (GroupNMF(), Traits(classes=True, nonnegative=True)),
]


@pytest.fixture(scope="module")
def X():
    return planted(60, 30, seed=1)


def labels(X):
    return np.where(np.arange(X.shape[0]) % 3 == 0, "sea", "sky")


@pytest.mark.parametrize(("model", "traits"), EXPECTED)
def test_traits_follow_from_the_parameters(model, traits):
    assert model.traits == traits
    assert model.wants == traits.wants
    tags = model.__sklearn_tags__()
    assert tags.target_tags.required == traits.classes
    assert tags.input_tags.positive_only == traits.nonnegative


def test_every_model_has_an_expected_answer():
    assert {type(model) for model, _ in EXPECTED} == set(MODELS.values())


def test_traits_are_true_of_what_is_found(X):
    for model, traits in EXPECTED:
        if traits.modalities or model.get_params().get("groups"):
            continue
        fitted = model.set_params(random_state=0, max_iter=2000, tol=1e-4).fit(X, labels(X))
        assert fitted.traits == traits
        smallest = min(fitted.components_.min(), fitted.transform(X).min())
        assert smallest >= 0 or not traits.nonnegative
        assert len(fitted.topic_owners) == (len(fitted.topics()) if traits.classes else 0)
        if traits.prior:
            assert 0 < fitted.doc_density_ <= 1
        assert fitted.modalities == ()
        assert fitted.n_terms_of() == 30
        assert fitted.components_of() is fitted.components_
        assert fitted.term_names() is None
        with pytest.raises(ValueError, match="only one"):
            fitted.n_terms_of("text")
        with pytest.raises(ValueError, match="only one"):
            fitted.weights_of(X, modality="text")


def test_questions_about_a_fit_need_one():
    model = RLSI()
    assert not model.fitted
    for ask in (model.n_terms_of, model.components_of, model.term_names, lambda: model.topic_penalty):
        with pytest.raises(NotFittedError):
            ask()


def test_penalties_and_budgets(X):
    assert RLSI(2, alpha_topics=0.25, random_state=0).fit(X).topic_penalty == 0.25
    assert SparseLSA(2, alpha_topics=0.5, random_state=0).fit(X).topic_penalty == 0.5
    budget = RLSI(2, topic_norm="l0", random_state=0)
    assert budget.fit(X).topic_penalty is None
    assert budget.word_budget == 40
    assert GroupRLSI(topic_norm="l0", terms_per_topic=7).word_budget == 7
    assert RLSI().word_budget is NMF().word_budget is PLSA().word_budget is None
    assert NMF(2, random_state=0).fit(X).topic_penalty is None


def test_names_of_columns(X):
    pandas = pytest.importorskip("pandas")
    names = [f"word{m}" for m in range(30)]
    frame = pandas.DataFrame(X.toarray(), columns=names)
    assert NMF(2, random_state=0).fit(frame).term_names().tolist() == names
    both = {"a": frame, "b": X}
    model = MultimodalPLSA(2, random_state=0).fit(both)
    assert model.term_names("a").tolist() == names
    assert model.term_names("b") is None
    assert model.term_names().tolist() == [*names, *range(30)]


def test_modalities():
    media = planted_modalities()
    model = MultimodalPLSA(2, random_state=0)
    assert model.modalities == ()
    model.fit(media)
    assert model.modalities == tuple(media)
    for name, part in media.items():
        assert model.n_terms_of(name) == part.shape[1]
        np.testing.assert_array_equal(model.components_of(name), model.modality_topics(name))
        np.testing.assert_array_equal(
            model.weights_of(part, modality=name), model.transform(part, modality=name)
        )
    assert model.n_terms_of() == sum(part.shape[1] for part in media.values())
    np.testing.assert_array_equal(model.weights_of(media), model.transform(media))
    with pytest.raises(ValueError, match="choose one of"):
        model.n_terms_of("smell")


def test_rows_are_counts_or_weights():
    vectorizer = Vectorizer(min_df=1)
    counts = vectorizer.fit_count(["sun moon", "moon", "salt"])
    assert PLSA().rows(counts, vectorizer.weigh) is counts
    assert (RLSI().rows(counts, vectorizer.weigh) != vectorizer.weigh(counts)).nnz == 0


def test_weights_of_the_fit_are_those_that_links_have_changed(X):
    model = GraphPLSA(2, strength=3, tol=1e-3, random_state=0).fit(X)
    assert model.weights_of(X) is model.weights_
    assert model.weights_of(X.toarray()) is model.weights_
    other = X.copy()
    other.data[0] += 1
    for new in (other, X[:20]):
        np.testing.assert_array_equal(model.weights_of(new), model.transform(new))
    plain = PLSA(2, random_state=0).fit(X)
    assert plain.kept_weights(X) is None
    np.testing.assert_array_equal(plain.weights_of(X), plain.transform(X))


def test_weights_of_classes_that_are_known(X):
    model = GroupNMF(1, 1, random_state=0).fit(X, labels(X))
    for known in (labels(X), None):
        assert (model.weights_of(X, known) != model.transform(X, known)).nnz == 0


def names_of_models():
    """What models call their parameters and what they find."""
    found = set()
    for kind in MODELS.values():
        found |= set(kind().get_params())
        found |= {field.place for field in kind._schema}
        found |= {name for name in dir(kind) if name.endswith("_") and not name.startswith("_")}
    return found


def probes(path, names):
    """Where a file asks a model whether it has something, rather than what it is."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "hasattr"):
            of, name = node.args[:2]
            known = isinstance(name, ast.Constant) and name.value in names
            if known or "model" in ast.unparse(of):
                yield f"{path.relative_to(SOURCE)}:{node.lineno}: {ast.unparse(node)}"


def test_nobody_probes_models():
    names = names_of_models()
    assert {"topic_class_", "alpha_topics", "n_terms_", "feature_names_in_"} <= names
    outside = [path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).parts[0] not in ("models",)]
    assert [line for path in outside for line in probes(path, names)] == []
