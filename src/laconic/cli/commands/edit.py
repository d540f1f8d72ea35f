"""``laconic edit``: topics of a saved model changed by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from laconic.cli.options.arguments import Saved
from laconic.cli.options.declaring import command, usage
from laconic.cli.screen.console import emit, printable, say, waiting
from laconic.cli.screen.tables import topics_table
from laconic.words import plural

if TYPE_CHECKING:
    from laconic.steering.editing import Editing

EXAMPLES = """
Examples

  laconic edit model rename 3 tennis

  laconic edit model merge 3 7 + rename 3 tennis + drop 5

  laconic edit model split 4

  laconic edit model reduce 10

  laconic edit model seed airline airlines carrier

  laconic edit model forbid said mr + forbid 2 england

  laconic edit model --log

  laconic edit model --undo
"""

VERBS = ("rename", "merge", "split", "drop", "reduce", "forbid", "seed", "freeze", "thaw")

Steps = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="STEP",
        help="rename TOPIC NAME; merge TOPIC TOPIC ...; split TOPIC [PARTS]; drop TOPIC ...; reduce NUMBER; "
        "forbid [TOPIC] WORD ...; seed [TOPIC] WORD ... (without a number, a new topic); freeze TOPIC ...; "
        "thaw TOPIC .... Put + between several steps. A topic is a number or a name.",
        show_default=False,
    ),
]
Keep = Annotated[
    str,
    typer.Option(
        "--keep",
        metavar="frozen|anchored",
        help="Whether the other topics stay exactly as they are, or may adapt a little.",
    ),
]
Undo = Annotated[bool, typer.Option("--undo", help="Undo the last edit.")]
Log = Annotated[bool, typer.Option("--log", help="Show what was done, and which versions are kept.")]
Prune = Annotated[
    bool, typer.Option("--prune", help="Remove earlier versions, after which nothing can be undone.")
]
Parent = Annotated[
    str | None,
    typer.Option(
        "--parent",
        metavar="VERSION",
        help="Edit only if the model is still this version, as --log names it.",
        show_default=False,
    ),
]


@command()
def edit(
    model: Saved,
    steps: Steps = None,
    keep: Keep = "frozen",
    undo: Undo = False,
    log: Log = False,
    prune: Prune = False,
    parent: Parent = None,
) -> None:
    """Edit topics by hand: merge, split, drop, seed, forbid words, freeze, rename.

    Other topics keep their numbers and their words. Edited topics are fitted again to the documents saved
    with the model. The previous version is kept until --prune, and --undo restores it. The number of a
    topic that was dropped or merged into another is not used again; new topics come last.
    """
    if sum((bool(steps), undo, log, prune)) != 1:
        raise typer.BadParameter("say what to do: give steps, or one of --undo, --log and --prune")
    if log:
        _tell_log(model)
        return
    if undo or prune:
        _turn(model, undo, parent)
        return
    with waiting(f"loading {model}"):
        from laconic.bundle import load
        from laconic.bundle.listing import Listing
        from laconic.steering.refitting import KEEP

        if keep not in KEEP:
            raise typer.BadParameter(f"{keep!r} is not one of {', '.join(KEEP)}", param_hint="--keep")
        bundle = load(model)
    with waiting("editing the topics"), usage():
        editing = bundle.edit()
        for step in _separated(steps or []):
            _take(editing, step)
        edited = editing.apply(keep)
        edited.save(model, parent=bundle.version if parent is None else parent)
    emit(topics_table(Listing.of(edited)))
    for did in editing.draft.did:
        say(f"done: {printable(did)}", whole=True)
    say(f"version {edited.version}; to undo it: laconic edit {model} --undo", whole=True)


def _turn(model: Path, back: bool, parent: str | None) -> None:
    """Take an edit back, or remove the versions before."""
    from laconic.bundle import history

    if back:
        version = history.undo(model, parent)
        say(f"undone: {model} is version {version} again", whole=True)
    else:
        say(f"{plural(history.prune(model), 'version')} of {model} removed", whole=True)
        _tell_pending(model)


def _tell_log(model: Path) -> None:
    from laconic.bundle import load

    bundle = load(model)
    kept = {one.version for one in bundle.history.kept}
    for entry in bundle.history.log:
        can = "" if entry.parent in kept else " (not kept)"
        typer.echo(f"{entry.parent or 'not saved'}{can}: {printable(' + '.join(entry.did))}")
    typer.echo(f"{bundle.version}: now")
    _tell_pending(model)


def _tell_pending(model: Path) -> None:
    from laconic.bundle.pending import pending

    left = pending(model)
    if left is not None:
        say(
            f"a refit waits: {printable(left.what)}; laconic serve {model} shows it on the page Edits, to "
            "accept or discard it",
            whole=True,
        )


def _separated(words: Sequence[str]) -> list[list[str]]:
    """Steps, which have a plus between them.

    >>> _separated(["merge", "3", "7", "+", "drop", "5"])
    [['merge', '3', '7'], ['drop', '5']]
    """
    steps: list[list[str]] = [[]]
    for word in words:
        if word == "+":
            steps.append([])
        else:
            steps[-1].append(word)
    return steps


def _take(editing: Editing, step: Sequence[str]) -> None:
    """One step, as it was typed."""
    if not step or step[0] not in VERBS:
        said = repr(step[0]) if step else "nothing"
        raise typer.BadParameter(f"{said} is no step; there are {', '.join(VERBS)}")
    verb, *given = step
    if verb == "rename":
        if not given:
            raise typer.BadParameter("rename which topic?")
        editing.rename(given[0], " ".join(given[1:]) or None)
    elif verb == "split":
        if not 1 <= len(given) <= 2 or not all(part.isdecimal() for part in given[1:]):
            raise typer.BadParameter("split one topic: laconic edit model split 4, or split 4 3 into three")
        editing.split(given[0], *map(int, given[1:]))
    elif verb == "reduce":
        if len(given) != 1 or not given[0].isdecimal():
            raise typer.BadParameter("reduce to how many topics? laconic edit model reduce 10")
        editing.reduce(int(given[0]))
    elif verb in ("forbid", "seed"):
        numbered = bool(given) and given[0].isdecimal()
        words, topic = given[numbered:], given[0] if numbered else None
        if verb == "forbid":
            editing.forbid(words, topic)
        else:
            editing.seed(words, topic)
    else:
        {
            "merge": editing.merge,
            "drop": editing.drop,
            "freeze": editing.freeze,
            "thaw": editing.thaw,
        }[verb](*given)
