"""How many cores there are for this process."""

import os


def available_cores() -> int:
    """Those that the system lets it use: in a container, often fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
