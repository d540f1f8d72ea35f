"""The cache of compiled kernels: several processes may fill it at once."""

import errno
import os
import pickle
import re
import runpy
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest

import laconic
from laconic.kernels import compiling
from laconic.kernels.compiling import SharedCacheFile, njit, watched
from laconic.kernels.rows import inner

PROCESS = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import toy
kinds = [np.float32, np.float64, np.int32, np.int64, np.uint8, np.int16]
first = int(sys.argv[2])
for kind in kinds[first:] + kinds[:first]:
    assert toy.total(np.arange(4, dtype=kind)) == 6
"""
TOY = """
from laconic.kernels.compiling import njit

@njit(nogil=True, cache=True)
def total(values):
    found = 0
    for value in values:
        found += value
    return found
"""


def test_kernels_have_the_shared_cache():
    assert isinstance(inner._cache._cache_file, SharedCacheFile)


def test_versions_that_are_saved_at_once_do_not_take_each_others_place(tmp_path):
    n_threads, rounds = 8, 20
    barrier = Barrier(n_threads)

    def fill(number):
        for turn in range(rounds):
            barrier.wait()
            SharedCacheFile(str(tmp_path), "kernel", "stamp").save((turn, number), f"{turn} {number}")

    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(fill, range(n_threads)))
    cache = SharedCacheFile(str(tmp_path), "kernel", "stamp")
    for turn in range(rounds):
        for number in range(n_threads):
            assert cache.load((turn, number)) == f"{turn} {number}"


def test_processes_that_compile_at_once(tmp_path):
    (tmp_path / "toy.py").write_text(TOY)
    for _ in range(2):
        running = [
            subprocess.Popen(
                [sys.executable, "-c", PROCESS, str(tmp_path), str(first)], stderr=subprocess.PIPE, text=True
            )
            for first in range(4)
        ]
        for process in running:
            _, errors = process.communicate(timeout=300)
            assert process.returncode == 0, errors


def test_a_kernel_that_is_not_kept():
    @njit(nogil=True)
    def double(value):
        return 2 * value

    assert double(np.float64(2)) == 4


def test_compiling_is_told_and_not_what_is_compiled_on_the_way():
    @njit(nogil=True)
    def inner(x):
        return x + 1

    @njit(nogil=True)
    def outer(x):
        return inner(x) * 2

    told = []
    with watched(lambda: told.append("begins"), lambda: told.append("ends")):
        assert outer(1) == 4
        assert told == ["begins", "ends"]
        assert outer(2) == 6
        assert told == ["begins", "ends"]
        assert outer(2.5) == 7
    assert told == ["begins", "ends"] * 2
    outer(np.float32(1))
    assert len(told) == 4


ALONE = """
import sys, warnings
import numpy as np
sys.path.insert(0, sys.argv[1])
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import toy
    assert toy.total(np.arange(4)) == 6
print(len(caught), *(str(warning.message) for warning in caught))
"""


def told(folder, **environment):
    """What a process warns of that compiles the toy in a folder."""
    # a folder for all kernels, set for the whole suite, would be used instead of the toy's own
    inherited = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(folder)],
        env={**inherited, "PYTHONDONTWRITEBYTECODE": "1", **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def toy(tmp_path):
    (tmp_path / "toy.py").write_text(TOY + TOY.partition("\n\n")[2].replace("total", "other"))
    return tmp_path


def test_where_nothing_can_be_written_kernels_are_compiled_with_one_warning(toy, tmp_path):
    # What is no folder cannot be written to, whoever asks: also where tests run as root.
    (toy / "__pycache__").write_text("")
    (tmp_path / "home").write_text("")
    nowhere = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "home"), "IPYTHONDIR": ""}
    assert "1 compiled kernels cannot be kept (there is no folder" in told(toy, **nowhere)
    assert "NUMBA_CACHE_DIR" in told(toy, **nowhere)
    assert told(toy, **nowhere, NUMBA_CACHE_DIR=str(tmp_path / "kept")).strip() == "0"


def test_a_change_of_any_kernel_counts_for_all(toy, monkeypatch):
    """Kernels are compiled into those that call them: none may go on with the old version of another."""

    def times_read():
        kernel = runpy.run_path(str(toy / "toy.py"))["total"]
        kernel(np.arange(4))
        return sum(kernel.stats.cache_hits.values())

    assert [times_read(), times_read()] == [0, 1]
    monkeypatch.setattr(compiling, "_sources", lambda: "one of them has changed")
    assert [times_read(), times_read()] == [0, 1]


def test_the_files_of_kernels_are_told_apart_by_time_and_size(tmp_path):
    kernel = tmp_path / "kernel.py"
    kernel.write_text("one")

    def stamp(text, time):
        kernel.write_text(text)
        os.utime(kernel, (time, time))
        return compiling._sources.__wrapped__(tmp_path)

    first = stamp("one", 1000)
    assert stamp("one", 1000) == first
    assert len({first, stamp("one", 1001), stamp("longer", 1000)}) == 3
    assert {"logarithms.py", "ratios.py"} <= {name for name, _, _ in compiling._sources()}


def test_kernels_inherit_nothing_from_who_calls_them_first():
    """Else the last bits of a fit would depend on what was compiled before, here or in the cache."""

    @njit()
    def strict(x, y):
        return x / y + x + y

    @njit(fastmath={"reassoc"}, error_model="numpy")
    def in_any_order(x, y):
        return strict(x, y) + x + y

    in_any_order(1.0, 2.0)
    (own,), (other,) = (kernel.inspect_llvm().values() for kernel in (strict, in_any_order))
    assert "reassoc" in other
    assert "reassoc" not in own
    with pytest.raises(ZeroDivisionError):
        strict(1.0, 0.0)


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize(
    "damage", [lambda content: b"", lambda content: content[:-9], lambda content: b"x" * 99]
)
def test_damaged_files_are_compiled_again(suffix, damage, tmp_path):
    file = SharedCacheFile(str(tmp_path), "kernel", "stamp")
    file.save("key", "compiled")
    (path,) = tmp_path.glob(f"*{suffix}")
    path.write_bytes(damage(path.read_bytes()))
    assert file.load("key") is None
    file.save("key", "compiled again")
    assert file.load("key") == "compiled again"


def test_a_changed_byte_of_machine_code_is_noticed(tmp_path):
    file = SharedCacheFile(str(tmp_path), "kernel", "stamp")
    file.save("key", b"machine code")
    (path,) = tmp_path.glob("*.nbc")
    path.write_bytes(path.read_bytes().replace(b"machine", b"mbchine"))
    assert file.load("key") is None


def test_a_full_disk_ends_nothing(monkeypatch):
    monkeypatch.setattr(compiling, "_told", [])

    @njit(nogil=True, cache=True)
    def double(value):
        return 2 * value

    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(SharedCacheFile, "save", full)
    with pytest.warns(RuntimeWarning, match="No space left on device.*NUMBA_CACHE_DIR"):
        assert double(2) == 4
    # and it is told just once
    assert double(2.5) == 5


def test_the_cache_can_be_turned_off(toy):
    told(toy, LACONIC_KERNEL_CACHE="0")
    assert not list(toy.rglob("*.nb?"))
    told(toy)
    assert list(toy.rglob("*.nbi"))
    # Nor is what is there read: it would end this process.
    for path in toy.rglob("*.nbi"):
        path.write_bytes(pickle.dumps(_Trap()))
    assert told(toy, LACONIC_KERNEL_CACHE="0").strip() == "0"


class _Trap:
    def __reduce__(self):
        return os._exit, (3,)


def test_what_only_kernels_can_call_is_not_within_reach_of_others():
    """Such a function has no way in from Python, so that a call would end the process."""
    source = Path(laconic.__file__).parent
    modules = [path for path in source.rglob("*.py") if path.parent.name != "kernels"]
    assert len(modules) > 100
    taken = re.compile(r"from laconic\.kernels[\w.]* import [^\n]*\b_|kernels\.\w+\._[a-z]")
    assert [path for path in modules if taken.search(path.read_text(encoding="utf-8"))] == []


def test_a_private_kernel_elsewhere_can_be_called():
    assert _doubled(2) == 4


@njit()
def _doubled(value):
    return 2 * value
