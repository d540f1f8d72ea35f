"""Fits that begin with the topics on which several starts agree."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import laconic
from laconic.errors import ParameterError
from laconic.steering.consensus import agreed

WORDS = [[f"w{k}x{j}" for j in range(8)] for k in range(4)]


def texts():
    random = np.random.default_rng(0)
    return [" ".join(random.choice(WORDS[n % 4], 20)) for n in range(60)]


def test_topics_that_are_alike_are_added_up_whatever_their_order_and_sign():
    topics = np.eye(3, 6)
    strange = np.array([[0, 0, 0, 0, 0, 2.0], [0, 1, 0, 0, 0, 0], [-1.0, 0, 0, 0, 0, 0]])
    found = agreed([2 * topics, topics[[2, 0, 1]], strange]).toarray()
    best = [2 * topics, topics[[2, 0, 1]]][0] if np.linalg.norm(found[0]) > 1.5 else topics[[2, 0, 1]]
    # the topic that one start alone has found adds nothing
    np.testing.assert_allclose(found, best, atol=1e-12)
    with_more = np.array([[1.0, 0, 0, 0.6, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]])
    assert agreed([topics, topics, with_more]).toarray()[0, 3] > 0
    assert csr_array(agreed([topics * 0, topics * 0])).nnz == 0


@pytest.mark.parametrize("model", ["rlsi", "nmf", "plsa", "sparse-lsa"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_start_is_the_same_for_any_threads_and_the_model_asks_for_what_it_asked_for(model):
    one, two = (
        laconic.fit(texts(), n_topics=4, model=model, consensus=3, n_jobs=n, max_df=1.0, max_iter=20)
        for n in (1, 2)
    )
    plain = laconic.fit(texts(), n_topics=4, model=model, max_df=1.0, max_iter=20)
    assert one.model.init == plain.model.init
    first, second = (csr_array(each.model.components_) for each in (one, two))
    assert first.data.tobytes() == second.data.tobytes()
    kinds = [{word.split("x")[0] for word, _ in topic} for topic in one.topic_words(4)]
    assert sorted(map(sorted, kinds)) == [["w0"], ["w1"], ["w2"], ["w3"]]


def test_seeded_topics_keep_their_places():
    bundle = laconic.fit(texts(), n_topics=4, seeds={"third": ["w2x1"]}, consensus=2, max_df=1.0)
    assert bundle.names[0] == "third"
    assert {word.split("x")[0] for word, _ in bundle.topic_words(5)[0]} == {"w2"}


def test_what_makes_no_sense_is_refused():
    labels = ["ab"[n % 2] for n in range(60)]
    for options, why in (
        ({"consensus": 1}, "consensus must be a whole number of at least 2"),
        (
            {"consensus": 2, "model": "group-nmf", "labels": labels, "n_topics": 20},
            "does not go with GroupNMF",
        ),
        ({"consensus": 2, "model": "nmf", "init": np.ones((4, 32))}, "init gives one"),
    ):
        with pytest.raises(ParameterError, match=why):
            laconic.fit(texts(), **{"n_topics": 4, "max_df": 1.0} | options)
