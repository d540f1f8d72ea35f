import io
import signal
import threading

import pytest
import typer
from rich.console import Console

import laconic as package
from laconic.cli.screen.errors import DEBUG, reported
from laconic.cli.screen.interrupt import Interrupt
from laconic.cli.screen.reading import ReadingDisplay
from laconic.losses.loop import Progress
from laconic.progress import ProgressDisplay


def test_version(laconic):
    assert laconic("--version").stdout == f"laconic {package.__version__}\n"


@pytest.mark.parametrize("command", [[], ["demo"], ["fit"], ["topics"], ["transform"], ["translate"]])
def test_help_has_examples(laconic, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "100")
    shown = laconic(*command, "--help").stdout
    assert f"  laconic {' '.join(command)}".rstrip() in shown
    assert max(map(len, shown.splitlines())) <= 100
    assert laconic(*command, "-h").stdout == shown


def test_the_package_names_what_it_has():
    assert {"RLSI", "Corpus", "load"} <= set(dir(package))
    for name in package.__all__:
        assert getattr(package, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = package.nonsense


def failing(error):
    @reported
    def command():
        raise error

    with pytest.raises(typer.Exit) as ended:
        command()
    return ended.value.exit_code


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (ValueError("two\nlines"), 1, "laconic: error: two lines"),
        (FileNotFoundError(2, "No such file", "x.csv"), 1, "laconic: error: x.csv: No such file"),
        (OSError(28, "No space left on device"), 1, "laconic: error: No space left on device"),
        (OSError("odd"), 1, "laconic: error: odd"),
        (MemoryError(), 1, "laconic: error: there is not enough memory: let fit keep documents in files"),
        (MemoryError("Unable to allocate 9 TiB"), 1, "not enough memory (Unable to allocate 9 TiB): let"),
        (KeyError("gone"), 1, "laconic: error: unexpected KeyError: 'gone' (laconic --debug"),
        (ValueError("\x1b[2J[bold]x"), 1, r"laconic: error: \x1b[2J[bold]x"),
        (KeyboardInterrupt(), 130, "laconic: interrupted"),
        (BrokenPipeError(32, "Broken pipe"), 141, ""),
    ],
)
def test_errors_are_a_line_and_a_code(capfd, error, code, message):
    assert failing(error) == code
    captured = capfd.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == (1 if message else 0)
    assert message in captured.err


def test_debug_raises(laconic, monkeypatch):
    token = DEBUG.set(True)
    try:

        @reported
        def command():
            raise ValueError("whole")

        with pytest.raises(ValueError, match="whole"):
            command()
    finally:
        DEBUG.reset(token)


@pytest.mark.usefixtures("heeds_ctrl_c")
def test_interrupt_asks_then_aborts():
    before = signal.getsignal(signal.SIGINT)
    calls = []
    with Interrupt(lambda: calls.append(1)) as interrupt:
        assert not interrupt.asked
        signal.raise_signal(signal.SIGINT)
        assert interrupt.asked
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert calls == [1]
    assert signal.getsignal(signal.SIGINT) is before


def test_interrupt_leaves_an_ignored_signal_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interrupt(lambda: None) as interrupt:
            signal.raise_signal(signal.SIGINT)
            assert not interrupt.asked
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_interrupt_outside_the_main_thread():
    def work():
        with Interrupt(lambda: None) as interrupt:
            states.append(interrupt.asked)

    states = []
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert states == [False]


def shown(display):
    with display.console.capture() as capture:
        display.console.print(display._bar.get_renderable())
    return capture.get()


@pytest.fixture
def console():
    return Console(file=io.StringIO(), force_terminal=True, width=80, color_system=None)


def test_the_progress_of_reading_fits_a_terminal(console):
    with ReadingDisplay(console) as display:
        assert "reading" in shown(display)
        display._began -= 30
        display(600_000_000, 3_000_000_000, 1_234_567)
        for part in ("600.0 MB of 3.0 GB", "1,234,567 documents", " MB/s", "~2:0"):
            assert part in shown(display)
        assert shown(display).count("\n") == 1
        display(3_000_000_000, 3_000_000_000, 6_172_835)
        assert "counting terms" in shown(display)
        assert "6,172,835 documents" in shown(display)


def test_the_progress_of_a_fit_fits_a_terminal(console):
    report = Progress("fit", 123, 200, "topics", 123_456.7, 1e-3, 1e-5, 1000, 0.0123, 75.0)
    with ProgressDisplay(console) as display:
        display(report._replace(phase="start"))
        assert "finding a start" in shown(display._surface)
        display(report)
        for part in ("iteration 123", "objective 123,457", "density 1.23%", "1000 alive", "~0:47 left"):
            assert part in shown(display._surface)
        display.show_stopping()
        assert "stopping after this iteration; Ctrl-C again to abort" in shown(display._surface)
