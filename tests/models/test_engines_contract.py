"""What every model promises on any engine: messages that can go over a wire, shards wherever they are."""

import inspect
import pickle
from contextlib import contextmanager

import numpy as np
import pytest
from planting import planted
from sklearn.base import clone
from test_contract import VARIANTS, bits, fit, labels

import laconic
from laconic import Corpus
from laconic.engines import Shards, Threads
from laconic.engines.shards import written_by
from laconic.models import MODELS

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def sent(value):
    """What arrives at the other end of a wire."""
    return pickle.loads(pickle.dumps(value))


def held(shards):
    """What shards hold, by name."""
    names = ("weights", "kept")
    return {
        name: [None if (a := getattr(s, name)) is None else a.tobytes() for s in shards] for name in names
    }


class Wire(Threads):
    """Threads, but all that crosses a wall is pickled: as on a cluster, nothing is shared by chance.

    And nothing is written that was not said to be.
    """

    def documents(self, shards, function, message, rows):
        with self._checked(shards, function):
            return sent(super().documents(shards, sent(function), sent(message), sent(rows)))

    def terms(self, shards, blocks, products, solve, message):
        with self._checked(shards, products):
            found = list(super().terms(shards, sent(blocks), sent(products), sent(solve), sent(message)))
        return (sent(part) for part in found)

    def totals(self, shards, function, message=None):
        # sums are made of `each`
        return sent(super().totals(shards, sent(function), sent(message)))

    def each(self, shards, function, message):
        with self._checked(shards, function):
            return sent(super().each(shards, sent(function), sent(message)))

    @contextmanager
    def _checked(self, shards, function):
        before = held(shards)
        yield
        after = held(shards)
        changed = {name for name in before if before[name] != after[name]}
        assert changed <= set(written_by(function)), function

    def sample(self, shards, documents):
        return sent(super().sample(shards, documents))


@pytest.mark.parametrize("name", [n for n, model in VARIANTS.items() if not model._loss().whole])
@pytest.mark.parametrize("n_shards", [1, 3])
def test_functions_messages_and_shares_can_go_over_a_wire(name, n_shards):
    X = planted(700, 300, seed=4, dtype=np.float32)
    model = clone(VARIANTS[name]).set_params(random_state=0, max_iter=4, tol=0)
    near = clone(model).fit(Shards.cut(X, n_shards), labels(X))
    far = clone(model).fit(Shards.cut(X, n_shards), labels(X), engine=Wire(2))
    assert bits(near) == bits(far)


def test_an_engine_can_be_given():
    X = planted(300, 100)
    one, other = laconic.RLSI(3, random_state=0), laconic.RLSI(3, random_state=0)
    assert bits(one.fit(X)) == bits(other.fit(X, engine=Threads(1)))


def test_constructors_agree():
    last = ["init", "max_iter", "tol", "random_state", "n_jobs", "verbose"]
    # NMF has one for each loss, classes have no singular vectors; the divergence converges later than squares
    starts, iterations, defaults = {"NMF": None, "RLSI": "svd"}, {"PLSA": 500}, [1e-5, None, None, 0]
    for name, kind in MODELS.items():
        parameters = list(inspect.signature(kind).parameters.values())
        assert [p.name for p in parameters[-6:]] == last, kind
        expected = [starts.get(name, "documents"), iterations.get(name, 200), *defaults]
        assert [p.default for p in parameters[-6:]] == expected, kind
        n_sizes = 2 if kind.__name__.startswith("Group") else 1
        assert all(p.kind is p.KEYWORD_ONLY for p in parameters[n_sizes:]), kind
        assert all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters[:n_sizes]), kind


@pytest.mark.parametrize("wants", ["weights", "counts"])
def test_the_columns_of_a_saved_corpus_are_used_as_they_are(wants, tmp_path):
    texts = [f"word{n % 7} word{n % 5} word{n % 3} common{n % 2}" for n in range(60)]
    Corpus.from_texts(texts, min_df=1, max_df=1.0).save(tmp_path / "corpus")
    corpus = Corpus.load(tmp_path / "corpus")
    (shard,) = corpus.shards(wants)
    X = corpus.counts if wants == "counts" else corpus.X
    assert np.shares_memory(shard.columns.indices, corpus.counts_csc.indices)
    assert np.shares_memory(shard.columns.indptr, corpus.counts_csc.indptr)
    np.testing.assert_array_equal(shard.columns.data, X.tocsc().data)
    model = laconic.PLSA(3, random_state=0) if wants == "counts" else laconic.NMF(3, random_state=0)
    assert bits(clone(model).fit(X)) == bits(clone(model).fit(corpus.shards(wants)))


def test_shards_are_checked_like_matrices():
    X = planted(60, 30)
    broken = Shards.cut(X.copy(), 3)
    broken[1].X.data[0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        laconic.RLSI(2).fit(broken)
    with pytest.raises(ValueError, match="Negative values"):
        laconic.NMF(2).fit(Shards.cut(-X, 3))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        laconic.GroupRLSI(1, 1).fit(Shards.cut(X, 3), labels(X)[:-1])


def test_a_divergence_that_has_converged_returns_the_weights_of_its_last_objective():
    X = planted(120, 60, seed=7)
    graph = [[n, n + 1] for n in range(119)]
    for divergence in ("skl", "l2"):
        model = laconic.GraphPLSA(3, divergence=divergence, tol=1e-4, random_state=0).fit(X, graph=graph)
        W, C = model.weights_, model.components_
        shares = X.toarray() / X.sum(axis=1)[:, None].clip(1e-300)
        seen = shares > 0
        loss = np.sum(shares[seen] * np.log(shares[seen] / (W @ C)[seen]))
        a, b = W[:-1], W[1:]
        gaps = ((a - b) ** 2).sum() / 2 if divergence == "l2" else ((a - b) * np.log(a / b)).sum()
        assert model.objective_history_[-1] == pytest.approx(loss + model.strength * gaps, rel=1e-10)
        assert (np.diff(model.objective_history_) <= 0).all()


def test_word_budgets_choose_the_same_words_whatever_the_candidates(monkeypatch):
    """Bars only say what blocks send: with none, with high ones and by default the choice is the same."""
    from laconic.losses.squared import topics

    X = planted(800, 600, n_topics=8, seed=2, dtype=np.float32)
    y = labels(X)
    found = {}
    for slack, few in ((0.5, 4), (0.999, 4), (0.01, 4), (0.5, 10**9)):
        monkeypatch.setattr(topics, "SLACK", slack)
        monkeypatch.setattr(topics, "FEW", few)
        for nonnegative in (False, True):
            options = {"topic_norm": "l0", "terms_per_topic": 9, "nonnegative": nonnegative}
            flat = fit(laconic.RLSI(8, random_state=0, **options), X)
            grouped = laconic.GroupRLSI(2, 3, random_state=0, **options).fit(X, y)
            found.setdefault(nonnegative, set()).add((bits(flat), bits(grouped)))
    assert {len(each) for each in found.values()} == {1}


def test_word_budgets_ask_blocks_again_a_few_times_and_not_in_every_iteration(monkeypatch):
    """What was asked for too little is asked for more from then on: to ask again takes a whole pass."""
    from laconic.losses.squared import topics

    asked_again = {}
    finish = topics.BudgetTopics.finish

    def counted(step, *given):
        found = finish(step, *given)
        asked_again[step] = asked_again.get(step, 0) + (found is None)
        return found

    monkeypatch.setattr(topics, "SLACK", 0.999)
    monkeypatch.setattr(topics.BudgetTopics, "finish", counted)
    X = planted(800, 600, n_topics=8, seed=2, dtype=np.float32)
    options = {"topic_norm": "l0", "terms_per_topic": 9, "max_iter": 40, "tol": 0, "random_state": 0}
    laconic.RLSI(8, **options).fit(X)
    halvings = np.log2(0.999 / topics.LEAST_SLACK)
    assert 0 < max(asked_again.values()) <= halvings + 1
