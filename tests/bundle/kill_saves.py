"""Kill a process that saves two models in turn, again and again, and load what is left each time.

Usage: ``kill_saves.py directory n_kills``; prints what was seen as JSON.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np
from bundle_toys import Toy, same
from scipy import sparse

from laconic.bundle import Bundle, load
from laconic.models import MODELS


def large(seed):
    """A toy of a few megabytes."""
    model = Toy(50).fit(10, seed=seed)
    rng = np.random.default_rng(seed)
    model.components_ = sparse.csr_array(rng.random((50, 20_000)) * (rng.random((50, 20_000)) < 0.3))
    model.scale_ = rng.random(20_000).astype(np.float32)
    model.n_features_in_ = 20_000
    return model


def save_forever(models, path):
    while True:
        for model in models.values():
            Bundle(model).save(path)


def main(path, n_kills):
    MODELS["Toy"] = Toy
    models = {"a": large(0), "b": large(1)}
    start = time.perf_counter()
    for model in models.values():
        Bundle(model).save(path)
    two_saves = time.perf_counter() - start
    rng = random.Random(0)
    loaded, left_behind = [], 0
    for _ in range(n_kills):
        child = os.fork()
        if child == 0:
            save_forever(models, path)
        time.sleep(rng.uniform(0.1, 1.5) * two_saves)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), "the child ended by itself"
        files = json.loads((Path(path) / "model.json").read_text(encoding="utf-8"))["files"]
        left_behind += {p.name for p in Path(path).iterdir()} != {"model.json", *files}
        model = load(path).model
        loaded.append(next(name for name in models if same(models[name], model)))
    print(json.dumps({"kills": n_kills, "left_behind": left_behind, "loaded": loaded}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
