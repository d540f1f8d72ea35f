"""A process that is forked while another thread fits can fit, too."""

import os
import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from laconic import RLSI
from laconic.engines.workers import Workers, _blas

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")

LIMIT = 60


def in_child(function):
    """The exit code of a forked process that calls a function."""
    with warnings.catch_warnings():
        # Newer Pythons warn of what is tried here.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.alarm(LIMIT)
            function()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def fit():
    RLSI(2, random_state=0, n_jobs=2).fit(np.eye(6))


def threads():
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


def test_a_lock_that_another_thread_holds_is_not_waited_for():
    fit()
    _blas._lock.acquire()
    try:
        assert in_child(fit) == 0
    finally:
        _blas._lock.release()


def test_a_fit_that_the_child_does_not_have_is_not_counted():
    before = threads()

    def fits_and_gives_back():
        fit()
        assert _blas._engines == 0
        assert threads() == before

    with Workers(2):
        assert set(threads()) == {1}
        assert in_child(fits_and_gives_back) == 0
    assert threads() == before


FORKS = """
import os, signal, sys, threading, warnings
import numpy as np
from laconic import RLSI
warnings.simplefilter("ignore")
X = np.random.default_rng(0).random((40, 20))
def fit(): RLSI(2, random_state=0, n_jobs=2, max_iter=5).fit(X)
fit()
ended = threading.Event()
def fits():
    while not ended.is_set(): fit()
thread = threading.Thread(target=fits)
thread.start()
wrong = 0
for _ in range(int(sys.argv[1])):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        fit()
        os._exit(0)
    wrong += os.waitpid(child, 0)[1] != 0
ended.set()
thread.join()
print(wrong)
"""


def test_forks_beside_a_thread_that_fits():
    command = [sys.executable, "-c", FORKS, "10"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.stdout.strip() == "0", done.stderr
