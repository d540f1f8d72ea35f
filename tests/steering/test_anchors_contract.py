"""What every model promises of its anchors, variant by variant."""

import numpy as np
import pytest
from planting import planted
from scipy.sparse import csr_array
from sklearn.base import clone
from test_contract import VARIANTS, bits, dense, labels
from test_engines_contract import Wire

import laconic
from laconic.engines import Shards
from laconic.steering import Anchors

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:X looks like tf-idf weights"),
]

TAKERS = [
    name for name, model in VARIANTS.items() if "anchors" in model.get_params() and "anchored" not in name
]
# held, frozen, forbidden to one and to all; topic 1 is free
ANCHORS = Anchors(
    {0: {0: 1.0, 1: 0.5, 90: 0.1}, 2: [3, 4, 5]},
    strength={0: 0.3},
    frozen=[2],
    forbidden={0: [7], 1: [3], None: [8]},
)


@pytest.fixture(scope="module")
def X():
    """A column more than there are words."""
    X = planted(240, 90, seed=6)
    return csr_array((X.data, X.indices, X.indptr), shape=(240, 91))


@pytest.fixture(params=TAKERS)
def model(request):
    return clone(VARIANTS[request.param]).set_params(random_state=0, max_iter=25, tol=1e-6)


def test_anchors_that_ask_for_nothing_change_no_bit(model, X):
    plain = clone(model).fit(X, labels(X))
    for nothing in (Anchors(), Anchors({0: [3], 1: {4: 1.0}}, strength=0)):
        assert bits(clone(model).set_params(anchors=nothing).fit(X, labels(X))) == bits(plain)


def test_topics_are_held_frozen_and_kept_from_words(model, X):
    seen = []
    fitted = clone(model).set_params(anchors=ANCHORS)
    fitted.fit(X, labels(X), callback=lambda p: seen.append(p.objective) if p.phase == "fit" else None)
    assert (np.diff(seen) <= 1e-9 * np.abs(seen[:-1])).all()
    C = dense(fitted.components_)
    weights = C[2, [3, 4, 5]]
    assert np.count_nonzero(C[2]) == 3
    np.testing.assert_allclose(weights, weights[0])
    assert C[0, 0] > 0
    assert C[0, 90] > 0 or model.get_params().get("topic_norm") in ("l1", "l0")
    assert not C[0, 7]
    assert not C[1, 3]
    assert not C[:, 8].any()


def test_anchors_go_over_a_wire_and_do_not_depend_on_threads(model, X):
    data = [X] * 3 if model._loss().whole else [Shards.cut(X.copy(), 3) for _ in range(3)]
    anchored = clone(model).set_params(anchors=ANCHORS, max_iter=4, tol=0)
    fits = [
        clone(anchored).set_params(n_jobs=n).fit(part, labels(X))
        for n, part in zip((1, 4), data, strict=False)
    ]
    if not model._loss().whole:
        fits.append(clone(anchored).fit(data[2], labels(X), engine=Wire(2)))
    assert len({bits(each) for each in fits}) == 1


def test_saved_models_have_their_anchors(model, X, tmp_path):
    fitted = clone(model).set_params(anchors=ANCHORS, max_iter=3, tol=0).fit(X.astype(np.float32), labels(X))
    fitted.save(tmp_path / "model")
    loaded = laconic.load(tmp_path / "model").model
    assert loaded.anchors == ANCHORS
    assert bits(loaded) == bits(fitted)
    again = clone(loaded).fit(X.astype(np.float32), labels(X))
    assert bits(again) == bits(fitted)
