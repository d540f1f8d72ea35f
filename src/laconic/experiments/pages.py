"""From results to a page of the manual."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from laconic.experiments.figures import Picture, write_pictures
from laconic.experiments.parts import Results, Verdict
from laconic.experiments.registry import Experiment
from laconic.experiments.writing import list_of, reflowed, table
from laconic.words import clock

_QUICK = """
:::{{warning}}
{parts} {verb} run with `--quick`: little data, few iterations. These numbers only show that everything runs,
and say nothing about the paper.
:::
"""


def render(experiment: Experiment, results: dict[str, Results]) -> tuple[str, dict[str, Picture]]:
    """Render the page of an experiment.

    Parameters
    ----------
    experiment : Experiment
        Whose results they are.
    results : dict of str to dict
        By the names of parts, as `running.read_results` gives them.

    Returns
    -------
    text : str
        Markdown, for MyST.
    pictures : dict of str to Chart, Charts or HeatMaps
        From the names of files beside the page to what they show.
    """
    sections = {part: experiment.parts[part].render(run["results"]) for part, run in results.items()}
    quick = [part for part, run in results.items() if run["quick"]]
    missing = [part for part in experiment.needs if part not in results]
    lines = [f"# {experiment.title}", "", experiment.about.strip(), ""]
    if quick:
        lines += [_QUICK.format(parts=list_of(quick), verb="were" if len(quick) > 1 else "was").strip(), ""]
    lines += ["## What the paper claims, and what holds here", "", _claims(experiment, results), ""]
    lines += ["## In short", ""]
    lines += [f"- {finding}" for section in sections.values() for finding in section.findings]
    if missing:
        lines.append(f"- Not run yet: {list_of(missing)}.")
    pictures: dict[str, Picture] = {}
    for part, section in sections.items():
        text = _with_figures(experiment.name, reflowed(section.text))
        lines += ["", f"## {section.title}", "", reflowed(_provenance(results[part])), "", text]
        pictures |= {_file(experiment.name, name): shown for name, shown in section.figures.items()}
    for title, notes in (
        ("What was changed after seeing results", experiment.changed),
        ("What the paper leaves for future work", experiment.future),
    ):
        if notes:
            lines += ["", f"## {title}", "", *(f"- {note}" for note in notes)]
    lines += ["", "## How it was run", "", _how(experiment, results)]
    return "\n".join(lines) + "\n", pictures


def write(
    experiment: Experiment, results: dict[str, Results], folder: Path, where: str = ""
) -> tuple[Path, str]:
    """Write the page of an experiment, and its pictures if they can be drawn.

    `where` are the options that lead to this folder.

    Returns
    -------
    page : pathlib.Path
        Where it is.
    note : str
        Why there are no pictures, and what to do; nothing if there are.
    """
    text, pictures = render(experiment, results)
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / f"{experiment.name}.md"
    page.write_text(text, encoding="utf-8")
    try:
        write_pictures(pictures, folder)
    except ImportError as error:
        # Hours of numbers are not lost for it.
        again = f"then `laconic reproduce {experiment.name} --render{where}` draws them"
        return page, f"the page has no pictures: {error}; {again}"
    return page, ""


def _with_figures(experiment: str, text: str) -> str:
    return re.sub(r"\(figure:([\w-]+)\)", lambda match: f"({_file(experiment, match[1])})", text)


def _file(experiment: str, figure: str) -> str:
    return f"{experiment}-{figure}.svg"


def _claims(experiment: Experiment, results: dict[str, Results]) -> str:
    rows = []
    for claim in experiment.claims:
        missing = [part for part in claim.parts if part not in results]
        verdict = (
            Verdict("not run yet", f"It rests on {list_of(missing)}.")
            if missing
            else claim.judge(*(results[part]["results"] for part in claim.parts))
        )
        rows.append([claim.text, claim.where, f"**{verdict.state}**", verdict.reason])
    return table(["claim", "where", "here", "why"], rows, "llll")


def _provenance(run: Results) -> str:
    """When and by which code the numbers of a section were found."""
    code = f"by commit {run['commit']}" if "commit" in run else f"stored with commit {run['stored']}"
    if "rebased" in run:
        # Commits of a branch that was rebased after the run are not in the history themselves.
        code += f" (in the history as {list_of(run['rebased'])})"
    return f"*All tables in this section: run of {run['finished']} UTC, {code}, {_took(run)}.*"


def _took(run: Results) -> str:
    """How long a part took, by the clock and, where it is known, in CPU time."""
    return clock(run["seconds"]) + (
        f" (CPU time {clock(run['cpu_seconds'])})" if "cpu_seconds" in run else ""
    )


def _how(experiment: Experiment, results: dict[str, Results]) -> str:
    runs = results.values()
    total = clock(sum(run["seconds"] for run in runs))
    longest = max(results, key=lambda part: results[part]["seconds"])
    text = (
        f"`laconic reproduce {experiment.name}` makes this page (in {total} here); with `--part`, only "
        f"a part of it. The longest part, {longest}, took {_took(results[longest])}. All numbers "
        f"are in `results/{experiment.name}.json`, from which `laconic reproduce "
        f"{experiment.name} --render` writes the page again. Random seed: "
        f"{_distinct(run['seed'] for run in runs)}; cores: {_distinct(run['cores'] for run in runs)}; "
        f"versions: {_distinct(map(_versions, runs))}."
    )
    rows = [[part, list_of(experiment.needs[part]), clock(run["seconds"])] for part, run in results.items()]
    return reflowed(text) + "\n\n" + table(["part", "data sets", "time"], rows, "llr")


def _versions(run: Results) -> str:
    return ", ".join(f"{package} {version}" for package, version in run["versions"].items())


def _distinct(values: Iterable[object]) -> str:
    return list_of(dict.fromkeys(map(str, values)))
