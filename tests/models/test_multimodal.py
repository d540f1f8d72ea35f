"""MultimodalPLSA: its objective, its limits, and what it is for."""

import numpy as np
import pytest
from modality_toys import complete, naive_objective, planted_modalities
from scipy.sparse import csr_array
from sklearn.preprocessing import normalize

from laconic import PLSA, MultimodalPLSA
from laconic.evaluate import mate_ranks

DIVERGENCES = ["skl", "l2", "l1", "tied"]
THREE = {"de": 50, "en": 40, "image": 30}


def model(divergence="skl", n_components=4, **parameters):
    return MultimodalPLSA(
        n_components, **{"divergence": divergence, "random_state": 0, "max_iter": 3000} | parameters
    )


def gap(fitted, media):
    """The mean distance of weights in two media, over the documents that have both."""
    a, b = (fitted.modality_weights_[name] for name in list(media)[:2])
    both = np.flatnonzero(a.any(axis=1) & b.any(axis=1))
    return np.abs(a[both] - b[both]).sum(axis=1).mean()


# where max_iter ends a fit, the history is exact: no half step follows that it does not tell of
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("row_normalize", [True, False])
@pytest.mark.parametrize("sizes", [None, THREE])
@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_the_objective_is_the_formula_and_never_rises(divergence, sizes, row_normalize):
    media, seen = planted_modalities(sizes=sizes), []
    fitted = model(divergence, strength=0.7, row_normalize=row_normalize, max_iter=15, tol=0).fit(
        media, callback=lambda p: seen.append(p.objective) if p.phase == "fit" else None
    )
    assert len(seen) > 4
    assert (np.diff(seen) <= 1e-10 * np.array(seen[:-1])).all()
    assert fitted.objective_history_[-1] == pytest.approx(naive_objective(fitted, media), rel=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("divergence", ["skl", "l2", "l1"])
def test_a_graph_of_documents_joins_the_links_between_media(divergence):
    media = planted_modalities()
    links = [(0, 1, 1.0), (1, 2, 0.5), (3, 70, 2.0), (5, 6, 1.0), (11, 12, 1.0)]
    fitted = model(divergence, strength=0.3, max_iter=15, tol=0).fit(media, graph=np.array(links))
    assert fitted.objective_history_[-1] == pytest.approx(naive_objective(fitted, media, links), rel=1e-9)
    strong = model(divergence, strength=1.0).fit(media, graph=np.array([(2, 3, 500.0)]))
    loose = model(divergence, strength=1.0).fit(media)
    for name in media:
        apart = np.abs(strong.modality_weights_[name][2] - strong.modality_weights_[name][3]).sum()
        assert apart < 0.2 * np.abs(loose.modality_weights_[name][2] - loose.modality_weights_[name][3]).sum()


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_topics_and_weights_are_distributions(divergence):
    media = planted_modalities(sizes=THREE)
    fitted = model(divergence).fit(media)
    assert fitted.modalities_ == ("de", "en", "image")
    assert fitted.n_terms_ == THREE
    assert fitted.components_.shape == (4, 120)
    for name, X in media.items():
        np.testing.assert_allclose(fitted.modality_topics(name).sum(axis=1), 1, atol=1e-12)
        assert not fitted.modality_topics(name)[:, -1].any()
        present = np.diff(X.indptr) > 0
        np.testing.assert_allclose(fitted.modality_weights_[name].sum(axis=1), present, atol=1e-12)
        assert not fitted.modality_weights_[name][~present].any()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_without_strength_every_medium_is_on_its_own():
    media = planted_modalities()
    init = model("tied", max_iter=2).fit(media).components_
    fitted = model("l2", strength=0, init=init, max_iter=20, tol=0).fit(media)
    start = 0
    for name, X in media.items():
        rows = X.toarray() / np.maximum(X.sum(axis=1), 1)[:, None]
        part = init[:, start : start + X.shape[1]]
        alone = PLSA(4, solver="em", init=part, max_iter=20, tol=0).fit(rows)
        # weights begin at a floor where those of PLSA may be next to zero
        np.testing.assert_allclose(fitted.modality_topics(name), alone.components_, atol=1e-4)
        start += X.shape[1]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_given_topics_are_where_a_fit_begins():
    media = planted_modalities()
    found = model(strength=0.5).fit(media)
    again = model(strength=0.5, init=found.components_).fit(media)
    assert again.objective_history_[-1] <= found.objective_history_[-1] * (1 + 1e-3)
    # and without strength, what is said in one language means nothing to the other
    alone = model("l2", strength=0, init=found.components_, max_iter=5, tol=0)
    german = alone.fit(media).modality_topics("de")
    others = {"de": media["de"], "en": csr_array(media["en"].toarray()[:, ::-1])}
    np.testing.assert_allclose(alone.fit(others).modality_topics("de"), german, atol=1e-12)


def test_one_medium_is_plsa():
    # of length one: otherwise the objectives differ by a constant, and the fits stop at different iterations
    X = normalize(planted_modalities()["de"], norm="l1")
    ours = model("tied", row_normalize=False, tol=1e-9).fit({"de": X})
    plain = PLSA(4, solver="em", random_state=0, max_iter=3000, tol=1e-9).fit(X)
    np.testing.assert_allclose(ours.components_, plain.components_, atol=1e-4)
    np.testing.assert_allclose(ours.transform(X), plain.transform(X), atol=1e-3)
    # the same objective, from the same start, and there sooner
    assert ours.objective_history_[0] == pytest.approx(plain.objective_history_[0], rel=1e-12)
    assert ours.n_iter_ < plain.n_iter_ / 2


@pytest.mark.parametrize("divergence", ["skl", "l2", "l1"])
def test_strength_brings_the_media_of_a_document_together(divergence):
    media = planted_modalities()
    gaps = [gap(model(divergence, strength=s).fit(media), media) for s in (0, 0.1, 1, 100)]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 0.03 * gaps[0]


@pytest.mark.parametrize("divergence", ["skl", "l2", "l1"])
def test_a_large_strength_comes_close_to_tied_weights(divergence):
    media = complete(planted_modalities(seed=1))
    tied = model("tied").fit(media)
    strong = model(divergence, strength=1000, init=tied.components_).fit(media)
    assert strong.objective_history_[-1] == pytest.approx(tied.objective_history_[-1], rel=0.02)


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_planted_mates_are_found(divergence):
    media = complete(planted_modalities(400, seed=2, n_topics=6, n_words=80))
    train = {name: X[:250] for name, X in media.items()}
    new = {name: X[250:] for name, X in media.items()}
    fitted = model(divergence, 6).fit(train)
    ranks = mate_ranks(fitted.similarity(new["de"], new["en"], "de", "en"))
    assert ranks.size > 60
    # chance is 1 in 60
    assert (ranks == 1).mean() > 0.2
    assert np.median(ranks) <= 5


def test_translation_gives_the_other_side_of_planted_topics():
    random = np.random.default_rng(0)
    # ten pairs of words in each of five topics; the second language writes them in another order
    swap = random.permutation(50)
    german = np.zeros((200, 50))
    english = np.zeros((200, 50))
    topic = random.integers(5, size=200)
    for n, k in enumerate(topic):
        german[n] = np.bincount(random.integers(10 * k, 10 * k + 10, 12), minlength=50)
        english[n, swap] = np.bincount(random.integers(10 * k, 10 * k + 10, 12), minlength=50)
    fitted = model("skl", 5).fit({"de": german[:150], "en": english[:150]})
    words = [f"word{j}" for j in range(50)]
    found = fitted.translate(german[150:], "de", "en", n_terms=8, vocabulary=words)
    right = [
        np.mean([int(np.flatnonzero(swap == int(word[4:]))[0]) // 10 == k for word, _ in keywords])
        for keywords, k in zip(found, topic[150:], strict=True)
    ]
    assert np.mean(right) > 0.95
    for keywords in found:
        weights = [weight for _, weight in keywords]
        assert len(keywords) == 8
        assert weights == sorted(weights, reverse=True)
    W = fitted.transform(german[150:], "de") @ fitted.modality_topics("en")
    assert found[3][0][1] == pytest.approx(W[3].max())
    assert found[3][0][0] == f"word{W[3].argmax()}"


def test_documents_that_lack_media_help_those_that_have_them():
    """Words that only occur in documents without English still find their topics, and a translation."""
    media = complete(planted_modalities(300, seed=4, n_words=60))
    german, english = media["de"].toarray(), media["en"].toarray()
    # a new name for the heaviest word of half of the documents, which lose their English
    heavy = german.sum(axis=0).argmax()
    new = np.zeros((german.shape[0], 1))
    new[::2, 0], german[::2, heavy], english[::2] = german[::2, heavy], 0, 0
    fitted = model().fit({"de": np.hstack([german, new]), "en": english})
    topics = fitted.modality_topics("de")
    similar = np.corrcoef(topics[:, heavy], topics[:, -1])[0, 1]
    assert similar > 0.9


def test_media_of_a_triangle_need_no_document_with_all():
    media = complete(planted_modalities(240, sizes=THREE, seed=5))
    parts = {name: X.toarray() for name, X in media.items()}
    for number, X in enumerate(parts.values()):
        X[number::3] = 0
    fitted = model().fit(parts)
    assert np.isfinite(fitted.components_).all()
    new = media["de"][::3], media["en"][::3]
    assert (mate_ranks(fitted.similarity(*new, "de", "en")) == 1).mean() > 0.15


def test_similarity_is_the_correlation_of_weights():
    media = planted_modalities()
    fitted = model().fit(media)
    similar = fitted.similarity(media["de"], media["en"], "de", "en")
    a, b = fitted.transform(media["de"], "de"), fitted.transform(media["en"], "en")
    assert similar.shape == (80, 80)
    assert similar[2, 7] == pytest.approx(np.corrcoef(a[2], b[7])[0, 1])
    # document 5 has no words at all
    assert not similar[5].any()
    assert not similar[:, 5].any()
    assert np.abs(similar).max() <= 1
    np.testing.assert_allclose(similar, fitted.similarity(media["en"], media["de"], "en", "de").T, atol=1e-12)
    assert not model("tied", 1).fit(media).similarity(media["de"], media["en"], "de", "en").any()


def test_several_media_together_give_one_composition():
    media = planted_modalities()
    fitted = model().fit(media)
    np.testing.assert_allclose(
        fitted.transform({"en": media["en"]}), fitted.transform(media["en"], "en"), atol=2e-4
    )
    both = fitted.transform(media)
    np.testing.assert_allclose(both.sum(axis=1), 1, atol=1e-12)
    assert (both[5] == 1 / 4).all()
    np.testing.assert_array_equal(both, fitted.transform({name: media[name] for name in ("en", "de")}))
    # one optimum of the likelihood of all words: no other composition is better
    X = np.hstack([X.toarray() / np.maximum(X.sum(axis=1), 1)[:, None] for X in media.values()])
    likely = X @ np.log(np.maximum(both @ fitted.components_, 1e-300)).T
    own = np.diagonal(likely)
    for name in media:
        part = np.maximum(fitted.transform(media[name], name), 1e-12)
        other = np.sum(X * np.log(np.maximum(part @ fitted.components_, 1e-300)), axis=1)
        assert (other <= own + 1e-4).all()


def test_score_and_perplexity():
    media = planted_modalities()
    fitted = model().fit(media)
    for name, X in media.items():
        alone = fitted.modality_model(name)
        assert fitted.score(X, modality=name) == alone.score(X)
        assert fitted.perplexity(X, name) == alone.perplexity(X)
        assert 1 < fitted.perplexity(X, name) < X.shape[1]
    # by the formula, from whole matrices
    W, loss, whole = fitted.transform(media), 0.0, 0.0
    for name, X in media.items():
        X = X.toarray() / np.maximum(X.sum(axis=1), 1)[:, None]
        seen = X > 0
        back = X.sum(axis=1, keepdims=True) * (W @ fitted.modality_topics(name))
        loss += np.sum(X[seen] * np.log(X[seen] / back[seen]))
        independent = np.outer(X.sum(1), X.sum(0)) / X.sum()
        whole += np.sum(X[seen] * np.log(X[seen] / independent[seen]))
    assert fitted.score(media) == pytest.approx(1 - loss / whole, abs=1e-9)
    assert 0.2 < fitted.score(media) < 1
    with pytest.raises(TypeError, match="one modality at a time"):
        fitted.perplexity(media)


def test_paired_topics_are_listed():
    media = planted_modalities()
    fitted = model().fit(media)
    words = {name: [f"{name}{j}" for j in range(X.shape[1])] for name, X in media.items()}
    for name, X in media.items():
        listed = fitted.topics(words[name], 3, modality=name)
        assert listed == fitted.topics(words, 3, modality=name)
        for k, topic in enumerate(listed):
            best = fitted.modality_topics(name)[k].argmax()
            assert topic[0] == (f"{name}{best}", fitted.modality_topics(name)[k, best])
        assert fitted.topics(n_terms=1, modality=name)[0][0][0] == listed[0][0][0][len(name) :]
        with pytest.raises(ValueError, match="vocabulary"):
            fitted.topics(words[name][1:], modality=name)
        assert X.shape[1] == len(words[name])
    together = fitted.topics(words)
    assert together == fitted.topics(words["de"] + words["en"])
    assert {word[:2] for topic in together for word, _ in topic} == {"de", "en"}


def test_a_modality_alone_is_a_model_to_keep(tmp_path):
    media = planted_modalities()
    fitted = model().fit(media)
    alone = fitted.modality_model("en")
    assert type(alone) is PLSA
    np.testing.assert_array_equal(alone.transform(media["en"]), fitted.transform(media["en"], "en"))
    alone.save(tmp_path / "english")


def test_names_of_columns_come_from_data_frames():
    pandas = pytest.importorskip("pandas")
    media = {name: X.toarray() for name, X in planted_modalities().items()}
    words = [f"word{j}" for j in range(media["en"].shape[1])]
    media["en"] = pandas.DataFrame(media["en"], columns=words)
    fitted = model().fit(media)
    assert list(fitted.term_names_) == ["en"]
    assert fitted.topics(modality="en")[0][0][0].startswith("word")
    assert fitted.topics(modality="de")[0][0][0].isdigit()
    assert fitted.translate(media["de"][1:2], "de", "en")[0][0][0].startswith("word")
    named = {word for topic in fitted.topics(n_terms=None) for word, _ in topic}
    assert {word[:4] == "word" for word in named} == {True, False}
    with pytest.raises(ValueError, match="feature names"):
        fitted.transform(media["en"].rename(columns={"word0": "other"}), "en")
    frame = fitted.set_output(transform="pandas").transform(media["en"], "en")
    assert list(frame.columns) == [f"multimodalplsa{k}" for k in range(4)]


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_nothing_stalls_where_media_hold_the_same_words(divergence):
    """The same matrix twice: weights begin nearly equal, and must still become those of PLSA."""
    X = planted_modalities()["de"]
    twice = model(divergence).fit({"a": X, "b": X})
    rows = csr_array(X.toarray() / np.maximum(X.sum(axis=1), 1)[:, None])
    init = model("tied", max_iter=3, tol=1.0).fit({"a": X}).components_
    once = PLSA(4, solver="em", init=init, max_iter=3000).fit(rows)
    assert twice.objective_history_[-1] <= 2 * once.objective_history_[-1] * 1.05
