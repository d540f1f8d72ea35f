"""Topics without words keep their number, and no document has any of them."""

import numpy as np
import pytest
from planting import planted
from scipy.sparse import csr_array, issparse

from laconic import Bundle, load
from laconic.models.making import make_model


@pytest.mark.parametrize("kind", ["rlsi", "nmf", "nmf-kl", "plsa", "sparse-lsa"])
def test_as_if_the_others_were_all(kind, tmp_path):
    X = csr_array(np.ceil(planted().toarray() * 5))
    model = make_model(kind, 4, random_state=0, max_iter=5, tol=1).fit(X)
    others = make_model(kind, 3, random_state=0, max_iter=5, tol=1).fit(X)
    topics = csr_array(model.components_).toarray()
    topics[1] = 0
    as_it_was = csr_array if issparse(model.components_) else np.asarray
    model.components_, others.components_ = as_it_was(topics), as_it_was(topics[[0, 2, 3]])
    found, expected = (csr_array(one.transform(X)).toarray() for one in (model, others))
    np.testing.assert_array_equal(found[:, 1], 0)
    np.testing.assert_allclose(found[:, [0, 2, 3]], expected, rtol=1e-4, atol=1e-5)
    assert model.score(X) == pytest.approx(others.score(X), rel=1e-4)
    Bundle(model).save(tmp_path)
    np.testing.assert_array_equal(csr_array(load(tmp_path).model.transform(X)).toarray(), found)
