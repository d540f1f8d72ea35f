"""The recipe of CONTRIBUTING, followed: its example is run as it stands there."""

import re
from pathlib import Path

import numpy as np
import pytest
from planting import planted
from sklearn.base import clone

import laconic
from laconic.engines import Shards
from laconic.models import MODELS

PAGE = Path(__file__).parents[2] / "CONTRIBUTING.md"


@pytest.fixture(scope="module")
def kind():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names = {"__name__": "contributed"}
    exec(compile(code, str(PAGE), "exec"), names)
    return names["SemiNMF"]


def test_the_objective_falls_to_a_point_of_rest(kind):
    X = planted(120, 60, seed=2)
    told = []
    model = kind(4, tol=1e-10, max_iter=3000, random_state=0)
    model.fit(X, callback=lambda p: told.append(p.objective) and None)
    assert (np.diff(told) <= 1e-12 * told[0]).all()
    W, C = model.transform(X).toarray(), model.components_
    dense = X.toarray()
    value = ((dense - W @ C) ** 2).sum() + 0.1 * (C**2).sum() + 0.1 * (W**2).sum()
    assert value == pytest.approx(told[-1], rel=1e-6)
    # rest: the topics' gradient is zero, and that of weights where they are positive
    assert np.abs(W.T @ (W @ C - dense) + 0.1 * C).max() < 1e-2 * np.abs(W.T @ dense).max()
    assert W.min() >= 0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_any_threads_and_shards(kind):
    X = planted(2500, 300, seed=3, dtype=np.float32)
    model = kind(3, max_iter=4, tol=0, random_state=0)
    fits = [clone(model).set_params(n_jobs=n).fit(Shards.cut(X, 5)) for n in (1, 4)]
    whole = clone(model).fit(X)
    assert fits[0].components_.tobytes() == fits[1].components_.tobytes()
    np.testing.assert_allclose(fits[0].components_, whole.components_, atol=1e-4)


def test_it_is_saved_once_it_is_registered(kind, tmp_path, monkeypatch):
    model = kind(3, random_state=0).fit(planted(80, 40))
    monkeypatch.setitem(MODELS, "SemiNMF", kind)
    model.save(tmp_path / "model")
    loaded = laconic.load(tmp_path / "model").model
    assert type(loaded) is kind
    np.testing.assert_array_equal(loaded.components_, model.components_)


def test_parameters_are_checked_by_name(kind):
    with pytest.raises(ValueError, match="n_components must be a whole number"):
        kind(0).fit(np.eye(4))
    with pytest.raises(ValueError, match="alpha_docs must be a number of at least 0"):
        kind(2, alpha_docs=-1).fit(np.eye(4))
