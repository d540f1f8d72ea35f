"""Progress of a fit: a bar, a line in a notebook, lines in a log, or nothing."""

from __future__ import annotations

import io
import subprocess
import sys
import types
from itertools import pairwise

import pytest
from display_toys import read
from rich.console import Console

from laconic import RLSI, SparseLSA
from laconic.kernels.compiling import njit
from laconic.losses.loop import Progress
from laconic.progress import ProgressDisplay
from laconic.words import COMPILING

REPORT = Progress("fit", 1, 1000, "topics", 123.45678, 1e-3, 0.0, 20, 0.0123, 1.0)


class Clock:
    """A clock that is set."""

    time = 100.0

    def __call__(self):
        return self.time


def logged(seconds_each, n_iter, **options):
    """The lines of a fit whose iterations take so long."""
    out, clock = io.StringIO(), Clock()
    with ProgressDisplay(Console(file=out), lines=True, title="RLSI", clock=clock, **options) as display:
        for iteration in range(1, n_iter + 1):
            clock.time += seconds_each
            seconds = clock.time - 100
            for half in ("documents", "topics"):
                display(REPORT._replace(iteration=iteration, max_iter=n_iter, half=half, seconds=seconds))
    return out.getvalue().splitlines()


def test_a_short_fit_is_two_lines():
    assert logged(0.01, 30) == [
        "RLSI: fit begins",
        "RLSI: done, 30 iterations in 0.3 s, objective 123.457",
    ]


def test_a_longer_fit_says_how_far_it_is():
    lines = logged(6.0, 4)
    assert lines[1:-1] == [
        "RLSI: iteration 2  0:12  objective 123.457  density 1.23%  20 alive  ~0:12 left",
        "RLSI: iteration 4  0:24  objective 123.457  density 1.23%  20 alive  ~0:00 left",
    ]


def test_lines_become_rarer_but_never_stop():
    minute = logged(0.5, 120)
    assert len(minute) == 2 + 6
    hours = logged(60.0, 600)
    assert 50 < len(hours) < 110
    spoken = [int(line.split()[2]) for line in hours[1:-1]]
    gaps = [later - earlier for earlier, later in pairwise(spoken)]
    assert gaps == sorted(gaps)
    assert gaps[-1] == 10


def test_the_start_is_told_as_such_and_an_error_is_not_called_done():
    out, clock = io.StringIO(), Clock()

    def interrupted():
        with ProgressDisplay(Console(file=out), lines=True, clock=clock) as display:
            clock.time += 11
            display(REPORT._replace(phase="start"))
            display.show_stopping()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert out.getvalue().splitlines() == [
        "fit: fit begins",
        "fit: finding a start  0:11  objective 123.457  density 1.23%  20 alive",
        "fit: stopped by KeyboardInterrupt, 0 iterations in 11.0 s, objective 123.457",
    ]


def test_a_log_that_is_gone_is_no_reason_to_fail():
    class Gone(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    with ProgressDisplay(Console(file=Gone()), lines=True) as display:
        display(REPORT)


def test_a_console_of_the_callers_gets_no_lines_unless_it_asks():
    out = io.StringIO()
    with ProgressDisplay(Console(file=out)) as display:
        display(REPORT)
    assert out.getvalue().strip() == ""


def test_a_terminal_that_cannot_overwrite_gets_lines(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    out = io.StringIO()
    with ProgressDisplay(Console(file=out, force_terminal=True), lines=True):
        pass
    assert out.getvalue().startswith("fit: fit begins\nfit: done")


@pytest.mark.parametrize("verbose", [0, 1])
def test_verbose_writes_lines_to_standard_error_where_there_is_no_terminal(X, verbose, capfd, monkeypatch):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    RLSI(3, random_state=0, verbose=verbose).fit(X)
    SparseLSA(3, random_state=0, verbose=verbose).partial_fit(X)
    out, err = capfd.readouterr()
    assert out == ""
    # where no test has compiled the kernels yet, that is told as well
    told = [line for line in err.splitlines() if not line.endswith(COMPILING)]
    assert [line.split(",")[0] for line in told] == (
        ["RLSI: fit begins", "RLSI: done", "SparseLSA: fit begins", "SparseLSA: done"] if verbose else []
    )


def compiled_now():
    """Two kernels that nobody has compiled before, nor will find on disk; one of them calls the other."""

    @njit(nogil=True)
    def inner(x):
        return x + 1

    @njit(nogil=True)
    def outer(x):
        return inner(x) * 2

    return outer, njit(nogil=True)(lambda x: x - 1)


def test_lines_tell_once_that_kernels_are_compiled():
    first, second = compiled_now()
    out = io.StringIO()
    with ProgressDisplay(Console(file=out), lines=True):
        assert (first(1), second(1)) == (4, 0)
        assert (first(1), second(1)) == (4, 0)
    assert [line.split(",")[0] for line in out.getvalue().splitlines()] == [
        "fit: fit begins",
        "fit: compiling",
        "fit: done",
    ]
    out = io.StringIO()
    with ProgressDisplay(Console(file=out), lines=True):
        first(1)
    compiled_now()[0](1)
    assert COMPILING not in out.getvalue()


def test_a_bar_tells_that_kernels_are_compiled():
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=120)
    with ProgressDisplay(console) as display:
        compiled_now()[0](1)
        display._surface._bar.refresh()
        assert COMPILING in out.getvalue()
        display(REPORT)
        out.truncate(0)
        display._surface._bar.refresh()
        assert COMPILING not in out.getvalue()


def test_a_notebook_is_told_that_kernels_are_compiled(notebook):
    with ProgressDisplay(title="RLSI"):
        compiled_now()[0](1)
    assert notebook.shown[1]["text/plain"] == f"RLSI: {COMPILING}"


def test_a_callback_of_the_users_is_in_place_of_it(X, capfd):
    RLSI(3, random_state=0, verbose=1).fit(X, callback=lambda report: None)
    assert capfd.readouterr() == ("", "")


class Handle:
    def __init__(self, shown):
        self.shown = shown

    def update(self, data, *, raw):
        assert raw
        self.shown.append(data)


@pytest.fixture
def notebook(monkeypatch):
    """A kernel as far as we know it; gives what it was asked to show."""
    shown = []

    def display(data, *, raw, display_id):
        assert raw
        assert display_id
        shown.append(data)
        return Handle(shown)

    class ZMQInteractiveShell:
        pass

    package, module = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    package.get_ipython, module.display = ZMQInteractiveShell, display
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    return types.SimpleNamespace(shown=shown, package=package)


def test_a_notebook_gets_one_line_that_is_kept_up_to_date(notebook, capfd):
    clock = Clock()
    with ProgressDisplay(title="<b>", clock=clock) as display:
        for iteration in range(1, 101):
            clock.time += 0.05
            display(REPORT._replace(iteration=iteration, max_iter=100, seconds=clock.time - 100))
    texts = [data["text/plain"] for data in notebook.shown]
    assert texts[0] == "<b>: starting"
    assert texts[1] == "<b>: iteration 1  objective 123.457  density 1.23%  20 alive  ~0:05 left"
    assert texts[-1] == "<b>: done, 100 iterations in 5.0 s, objective 123.457"
    # not told more often than people can read
    assert 20 < len(texts) < 30
    for data in notebook.shown:
        page = read(data["text/html"])
        assert page.text.replace(" · ", "  ").split(" ", 1)[1] == data["text/plain"].split(": ", 1)[1]
    assert capfd.readouterr() == ("", "")


def test_a_fit_in_a_notebook(notebook, X, capfd):
    RLSI(3, random_state=0, verbose=1).fit(X)
    assert notebook.shown[0]["text/plain"] == "RLSI: starting"
    assert notebook.shown[-1]["text/plain"].startswith("RLSI: done, ")
    assert capfd.readouterr() == ("", "")
    before = len(notebook.shown)
    RLSI(3, random_state=0).fit(X)
    assert len(notebook.shown) == before


def test_ipython_on_a_terminal_is_no_notebook(notebook, X, capfd):
    for shell in (type(None), type("TerminalInteractiveShell", (), {})):
        notebook.package.get_ipython = shell
        RLSI(3, random_state=0, verbose=1).fit(X)
    assert notebook.shown == []
    assert capfd.readouterr().err.count("fit begins") == 2


def test_ipython_is_not_imported_for_it():
    code = "import sys, laconic.progress as p; p.ProgressDisplay(); print('IPython' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
