"""Kill a process that saves two models in turn, again and again, and load what is left each time.

Usage: ``kill_saves.py directory n_kills n_inside``; goes on until so many kills left parts of a save behind,
and prints what was seen as JSON.
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


def save_forever(models, path, tell):
    while True:
        for model in models.values():
            os.write(tell, b".")
            Bundle(model).save(path)


def kill_a_save(models, path, n_saves, pause):
    """Kill a process some time after it began one of its saves."""
    heard, tell = os.pipe()
    child = os.fork()
    if child == 0:
        save_forever(models, path, tell)
    os.close(tell)
    for _ in range(n_saves):
        assert os.read(heard, 1), "the child ended by itself"
    time.sleep(pause)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(heard)
    assert os.WIFSIGNALED(status), "the child ended by itself"


def main(path, n_kills, n_inside):
    MODELS["Toy"] = Toy
    models = {"a": large(0), "b": large(1)}
    for model in models.values():
        start = time.perf_counter()
        Bundle(model).save(path)
    one_save = time.perf_counter() - start
    rng = random.Random(0)
    loaded, left_behind = [], 0
    # as many as it takes for some to land inside saves and some between: when they do is up to the machine
    while len(loaded) < n_kills or left_behind < n_inside or len(set(loaded)) < 2:
        kill_a_save(models, path, rng.randint(1, 3), rng.uniform(0, 1) * one_save)
        files = json.loads((Path(path) / "model.json").read_text(encoding="utf-8"))["files"]
        left_behind += {p.name for p in Path(path).iterdir()} != {"model.json", *files}
        model = load(path).model
        loaded.append(next(name for name in models if same(models[name], model)))
    print(json.dumps({"kills": len(loaded), "left_behind": left_behind, "loaded": loaded}))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
