"""What only a process of its own can show: signals, pipes, encodings, exit codes, start-up."""

import contextlib
import gzip
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

import pytest
from cli_documents import write_jsonl

from laconic import load

LACONIC = [sys.executable, "-m", "laconic"]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and pipes")


def start(*arguments, **environment):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LACONIC", "PYTHON"))}
    return subprocess.Popen(
        [*LACONIC, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**kept, **environment},
    )


def run(*arguments, **environment):
    with start(*arguments, **environment) as process:
        output, errors = process.communicate(timeout=60)
    return process.returncode, output, errors.decode()


@pytest.fixture(scope="module")
def endless(tmp_path_factory):
    """Arguments of a fit that takes minutes."""
    rng = random.Random(0)
    words = [f"word{number}" for number in range(2000)]
    rows = [{"text": " ".join(rng.choices(words, k=40))} for _ in range(1500)]
    path = write_jsonl(tmp_path_factory.mktemp("endless") / "t.jsonl", rows)
    return ["fit", path, "-k", 100, "--alpha-topics", 0.01, "--tol", 0, "--max-iter", 100_000]


def interrupted(arguments, *, after, again=None):
    """Send Ctrl-C when the fit has begun, and again some seconds later."""
    with start(*arguments) as process:
        heard = b""
        while after not in heard:
            line = process.stderr.readline()
            assert line, heard
            heard += line
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        if again is not None:
            time.sleep(again)
            process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    return process.returncode, output.decode(), (heard + errors).decode()


def test_ctrl_c_keeps_the_model(endless, tmp_path):
    code, output, errors = interrupted([*endless, "-o", tmp_path / "m"], after=b"read 1,500 documents")
    assert code == 130, errors
    assert "stopped early by Ctrl-C" in errors
    assert "Traceback" not in errors
    model = load(tmp_path / "m").model
    assert 0 < model.n_iter_ < 100_000
    assert model.n_alive_ > 50
    assert len(output.splitlines()) >= 102


def test_a_second_ctrl_c_aborts(endless, tmp_path):
    # an iteration of so many topics takes a while; still, the fit may end before the second Ctrl-C comes
    for attempt, pause in enumerate((0.05, 0.02, 0.01, 0.005)):
        model = tmp_path / f"m{attempt}"
        code, output, errors = interrupted(
            [*endless, "-k", 1200, "-o", model], after=b"read 1,500 documents", again=pause
        )
        assert code == 130, errors
        assert "Traceback" not in errors
        if not model.exists():
            break
    assert errors.splitlines()[-1] == "laconic: interrupted, no model was saved"
    assert output == ""
    assert not model.exists()


@pytest.fixture(scope="module")
def long_text(tmp_path_factory):
    """A file whose reading takes many seconds: a compressed megabyte, again and again."""
    words = " ".join(f"word{number}" for number in range(1000))
    member = gzip.compress(f"{words}\n".encode() * 120)
    path = tmp_path_factory.mktemp("long") / "long.txt.gz"
    path.write_bytes(member * 2000)
    return path


def on_a_terminal(arguments, until):
    """Run with a terminal for standard error, and press Ctrl-C when it has shown something."""
    terminal, other_end = os.openpty()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LACONIC", "PYTHON"))}
    with subprocess.Popen(
        [*LACONIC, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=other_end,
        env={**kept, "TERM": "xterm", "COLUMNS": "80"},
    ) as process:
        os.close(other_end)
        shown = b""
        # When the last who writes is gone, Linux ends with an error and other systems with nothing.
        with contextlib.suppress(OSError):
            while block := os.read(terminal, 1 << 16):
                shown += block
                if until.search(shown) and process.poll() is None:
                    process.send_signal(signal.SIGINT)
                    until = re.compile(rb"(?!)")
        output, _ = process.communicate(timeout=60)
    os.close(terminal)
    return process.returncode, output, shown.decode()


def test_reading_shows_a_bar_on_a_terminal_and_ctrl_c_ends_it(long_text, saved, tmp_path):
    bar = re.compile(rb"reading .*MB of .*MB  [\d,]+ documents  .*[KM]B/s  ~[\d:]+ left")
    for arguments, end in [
        (["fit", long_text, "-o", tmp_path / "m"], "laconic: interrupted, no model was saved"),
        (["transform", saved, long_text, "-o", tmp_path / "w.csv"], "laconic: interrupted"),
    ]:
        code, output, shown = on_a_terminal(arguments, bar)
        assert (code, output) == (130, b"")
        assert shown.rstrip().endswith(end)
        assert "Traceback" not in shown
    assert list(tmp_path.iterdir()) == []


def test_closed_pipe(saved):
    with start("topics", saved, "--csv", "-n", 8) as process:
        # Nobody reads: with the other end closed, the first write fails.
        process.stdout.close()
        process.stdout = None
        _, errors = process.communicate(timeout=60)
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


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["topics", "nowhere"], 1),
        (["fit", "nowhere.csv", "-o", "m"], 1),
        (["fit"], 2),
        (["nonsense"], 2),
    ],
)
def test_errors_have_no_traceback(arguments, code):
    ended, output, errors = run(*arguments)
    assert ended == code
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
