"""The command line: one module per command, and what they share."""

import signal
import sys


def main() -> None:
    """Run ``laconic`` with the arguments of this process."""
    try:
        from laconic.cli.app import app

        app(prog_name="laconic")
    except KeyboardInterrupt:
        # Commands answer it themselves; this one came before or after them.
        sys.exit(130)
    finally:
        # All is done, or given up: one more Ctrl-C ends the process without a traceback from its last steps.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
