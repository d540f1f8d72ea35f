"""What only a process of its own can show: signals, pipes, encodings, exit codes, start-up."""

import contextlib
import gzip
import json
import os
import random
import re
import selectors
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_documents import write_jsonl

from laconic import load

LACONIC = [sys.executable, "-m", "laconic"]
ENDLESS = [sys.executable, Path(__file__).with_name("endless_fits.py")]
LIMIT = 300
"""Seconds, for what takes some on a quiet machine, or ten if kernels have to be compiled."""

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and pipes"),
    # what a process ignores, the processes that it starts ignore as well
    pytest.mark.usefixtures("heeds_ctrl_c"),
]


def start(*arguments, command=LACONIC, errors=subprocess.PIPE, **environment):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LACONIC", "PYTHON"))}
    return subprocess.Popen(
        [*command, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors,
        env={**kept, **environment},
    )


def run(*arguments, **environment):
    with ended(start(*arguments, **environment)) as process:
        output, errors = process.communicate(timeout=LIMIT)
    return process.returncode, output, errors.decode()


@contextlib.contextmanager
def ended(process):
    """A process that is gone afterwards, whatever went wrong."""
    with process:
        try:
            yield process
        finally:
            process.kill()


def on_a_terminal(*arguments, presses, command=LACONIC):
    """Run with a terminal for standard error; press Ctrl-C whenever it has shown the next of some things."""
    terminal, other_end = os.openpty()
    started = start(*arguments, command=command, errors=other_end, TERM="xterm", COLUMNS="200")
    os.close(other_end)
    with ended(started) as process, selectors.DefaultSelector() as selector:
        selector.register(terminal, selectors.EVENT_READ)
        presses, shown, seen, limit = list(presses), b"", 0, time.monotonic() + LIMIT
        # When the last who writes is gone, Linux ends with an error and other systems with nothing.
        with contextlib.suppress(OSError):
            while True:
                assert selector.select(limit - time.monotonic()), (presses, shown[-2000:])
                if not (block := os.read(terminal, 1 << 16)):
                    break
                shown += block
                if presses and (found := re.compile(presses[0]).search(shown, seen)):
                    assert process.poll() is None, shown
                    process.send_signal(signal.SIGINT)
                    presses, seen, limit = presses[1:], found.end(), time.monotonic() + LIMIT
        output, _ = process.communicate(timeout=LIMIT)
    os.close(terminal)
    assert not presses, (presses, shown[-2000:])
    assert b"Traceback" not in shown
    return process.returncode, output.decode(), shown.decode()


@pytest.fixture(scope="module")
def long_fit(tmp_path_factory):
    """Arguments of a fit that takes minutes."""
    rng = random.Random(0)
    words = [f"word{number}" for number in range(2000)]
    rows = [{"text": " ".join(rng.choices(words, k=40))} for _ in range(1500)]
    path = write_jsonl(tmp_path_factory.mktemp("long") / "t.jsonl", rows)
    return ["fit", path, "-k", 100, "--alpha-topics", 0.01, "--tol", 0, "--max-iter", 100_000]


def test_ctrl_c_keeps_the_model(long_fit, tmp_path):
    code, output, shown = on_a_terminal(*long_fit, "-o", tmp_path / "m", presses=[rb"iteration \d+ "])
    assert code == 130, shown
    assert "stopped early by Ctrl-C" in shown
    model = load(tmp_path / "m").model
    assert 0 < model.n_iter_ < 100_000
    assert model.n_alive_ > 50
    assert len(output.splitlines()) == 22


def test_a_fit_with_a_checkpoint_survives_ctrl_c_and_a_kill(long_fit, tmp_path):
    short = [*long_fit[:-1], 40, "--jobs", 2]
    assert run(*short, "-o", tmp_path / "whole")[0] == 0
    safely = [*short, "-o", tmp_path / "m", "--checkpoint", tmp_path / "c", "--every", "0s"]
    code, _, shown = on_a_terminal(*safely, presses=[rb"iteration \d+ "])
    assert code == 130, shown
    assert "the same command continues" in shown
    assert 0 < load(tmp_path / "m").model.n_iter_ < 40
    written = tmp_path / "c" / "checkpoint.json"
    first = json.loads(written.read_text())
    with ended(start(*safely)) as process:
        limit = time.monotonic() + LIMIT
        while json.loads(written.read_text()) == first:
            assert process.poll() is None
            assert time.monotonic() < limit
        process.kill()
    code, _, errors = run(*safely)
    assert code == 0, errors
    assert f"continuing from the checkpoint in {tmp_path / 'c'}" in errors
    whole, found = load(tmp_path / "whole").model, load(tmp_path / "m").model
    assert found.components_.data.tobytes() == whole.components_.data.tobytes()
    assert found.objective_history_.tobytes() == whole.objective_history_.tobytes()
    assert not (tmp_path / "c").exists()


def test_a_second_ctrl_c_aborts(jsonl, tmp_path):
    # the first is answered when the iteration ends; for the second to come before that, it never does
    arguments = ["fit", jsonl, "--text", "body", "-k", 3, "-o", tmp_path / "m"]
    presses = [rb"iteration 1 ", rb"Ctrl-C again to abort"]
    code, output, shown = on_a_terminal(*arguments, presses=presses, command=ENDLESS)
    assert (code, output) == (130, "")
    assert shown.rstrip().endswith("laconic: interrupted, no model was saved")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def long_text(tmp_path_factory):
    """A file whose reading takes many seconds: a compressed megabyte, again and again."""
    words = " ".join(f"word{number}" for number in range(1000))
    member = gzip.compress(f"{words}\n".encode() * 120)
    path = tmp_path_factory.mktemp("long") / "long.txt.gz"
    path.write_bytes(member * 2000)
    return path


def test_reading_shows_a_bar_on_a_terminal_and_ctrl_c_ends_it(long_text, saved, tmp_path):
    bar = rb"reading .*MB of .*MB  [\d,]+ documents  .*[KM]B/s  ~[\d:]+ left"
    for arguments, end in [
        (["fit", long_text, "-o", tmp_path / "m"], "laconic: interrupted, no model was saved"),
        (["transform", saved, long_text, "-o", tmp_path / "w.csv"], "laconic: interrupted"),
    ]:
        code, output, shown = on_a_terminal(*arguments, presses=[bar])
        assert (code, output) == (130, "")
        assert shown.rstrip().endswith(end)
    assert list(tmp_path.iterdir()) == []


def test_closed_pipe(saved):
    with ended(start("topics", saved, "--csv", "-n", 8)) as process:
        # Nobody reads: with the other end closed, the first write fails.
        process.stdout.close()
        process.stdout = None
        _, errors = process.communicate(timeout=LIMIT)
    assert process.returncode == 141
    assert errors == b""


def test_ascii_output(saved):
    code, output, errors = run("topics", saved, PYTHONIOENCODING="ascii")
    assert (code, errors) == (0, "")
    assert rb"gr\xf6\xdfe" in output
    assert output.isascii()
    code, output, errors = run("topics", saved, "--json", PYTHONIOENCODING="ascii")
    assert (code, errors) == (0, "")
    assert output.isascii()
    terms = {pair["term"] for topic in json.loads(output) for pair in topic["terms"]}
    assert "größe" in terms


@pytest.mark.parametrize(("arguments", "code"), [(["topics", "nowhere"], 1), (["nonsense"], 2)])
def test_errors_have_no_traceback(arguments, code):
    found, output, errors = run(*arguments)
    assert found == code
    assert output == b""
    assert "Traceback" not in errors
    assert (errors.startswith("laconic: error: ") and errors.count("\n") == 1) or code == 2


def test_debug_has_one():
    for arguments, environment in [(["--debug"], {}), ([], {"LACONIC_DEBUG": "1"})]:
        code, output, errors = run(*arguments, "topics", "nowhere", **environment)
        assert code == 1
        assert output == b""
        assert errors.startswith("Traceback")
        assert "BundleError: nowhere" in errors


def test_start_up_is_quick():
    """The heavy parts are imported by the commands that need them."""
    script = (
        "import sys; from laconic.cli.app import app; app(['fit', '--help'], standalone_mode=False); "
        "sys.exit(bool({'numpy', 'scipy', 'sklearn', 'numba', 'pyarrow'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False, capture_output=True).returncode == 0
