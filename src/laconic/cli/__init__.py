"""The command line: one module per command, and what they share."""

import gc
import signal
import sys

# Imports and compilers make many objects that stay: looking through them for garbage as often as Python does
# takes a tenth of a command's time.
OBJECTS_BETWEEN_COLLECTIONS = 50_000


def main() -> None:
    """Run ``laconic`` with the arguments of this process."""
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    try:
        from laconic.cli.app import app

        app(prog_name="laconic")
    except KeyboardInterrupt:
        # Commands answer it themselves; this one came before or after them.
        sys.exit(130)
    finally:
        # All is done, or given up: one more Ctrl-C ends the process without a traceback from its last steps.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
