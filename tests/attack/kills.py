"""Kill processes that save indexes of two models over each other; read what is there, beside them and after.

Usage: ``kills.py directory n_kills``; prints what was seen as JSON.
"""

import json
import os
import random
import signal
import sys
import time
import warnings

import uses

import laconic
from stored_files import contents, listed


def indexes():
    """Of models that differ in everything: topics, documents and how these are searched."""
    options = {"min_df": 1, "max_df": 1.0, "stop_words": None, "random_state": 0}
    made = [laconic.fit(uses.DOCUMENTS * (30 + k), n_topics=k, **options).index for k in (2, 3)]
    made[0].blend, made[1].blend = 0.25, 0.75
    return made


def seen(path):
    """What is there: parts that fit each other, or this fails."""
    bundle = laconic.load(path)
    n_topics = bundle.model.components_.shape[0]
    assert bundle.documents.weights.shape == (8 * (30 + n_topics), n_topics)
    assert bundle.search("sun moon").ids
    return f"{n_topics} topics, blend {bundle.index.blend}"


def main(path, n_kills):
    warnings.simplefilter("ignore")
    made = indexes()
    for index in made:
        began = time.perf_counter()
        index.save(path)
    one_save = time.perf_counter() - began
    rng = random.Random(0)
    report = {"kills": 0, "left behind": 0, "beside": {}, "after": {}}
    while report["kills"] < n_kills:
        child = os.fork()
        if child == 0:
            while True:
                for index in made:
                    index.save(path)
        end = time.monotonic() + rng.uniform(0, 4) * one_save
        # A busy machine may kill a child before its first save: no kill before both models were seen once.
        patience = time.monotonic() + 120
        while time.monotonic() < end or (len(report["beside"]) < len(made) and time.monotonic() < patience):
            what = seen(path)
            report["beside"][what] = report["beside"].get(what, 0) + 1
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), "the child ended by itself"
        report["kills"] += 1
        report["left behind"] += set(contents(path)) != listed(path)
        what = seen(path)
        report["after"][what] = report["after"].get(what, 0) + 1
    made[0].save(path)
    assert set(contents(path)) == listed(path)
    print(json.dumps(report))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
