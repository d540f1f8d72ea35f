"""What is made once of a fitted model, to serve all documents that come: kept beside the model, not in it.

So a model that has been used is the same as before, also to those who look into it: copies, pickles and saved
models do not carry along what can be made again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary


class _Made(NamedTuple):
    """What was made of some topics, by name, each with the settings it was made with."""

    components: Any
    things: dict[Hashable, tuple[Any, Any]]


_made: WeakKeyDictionary[Any, _Made] = WeakKeyDictionary()
_lock = threading.Lock()


def prepared(model: Any, name: Hashable, settings: Any, make: Callable[[Any], Any]) -> Any:
    """What `make` makes of a model's topics: once, as long as they are the same array, and settings equal.

    Topics that are written into, rather than replaced, are not noticed.

    Parameters
    ----------
    model : TopicModel
        Fitted.
    name : hashable
        What it is; of each name, only the last one is kept.
    settings : object
        All that it depends on besides the topics; compared by ``==``.
    make : callable
        Given ``components_``. Threads that come at the same time may each call it, and all get what is whole.

    Returns
    -------
    object
        What was made, now or before.
    """
    components = model.components_
    with _lock:
        made = _made.get(model)
        if made is None or made.components is not components:
            made = _made[model] = _Made(components, {})
    known = made.things.get(name)
    if known is not None and known[0] == settings:
        return known[1]
    thing = make(components)
    made.things[name] = settings, thing
    return thing


def forget(model: Any) -> None:
    """Let go of all that was made of a model."""
    with _lock:
        _made.pop(model, None)
