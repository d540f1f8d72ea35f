"""The help: short by default, all of it on demand, whole at any width, whatever typer makes of types."""

import pytest

from laconic.cli.options.help import SHORT
from laconic.cli.options.table import TABLE
from laconic.models.making import RECIPES


@pytest.fixture(params=[80, 140])
def shown(request, laconic, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(request.param))

    def run(*arguments):
        printed = laconic(*arguments).stdout
        assert max(len(line.rstrip()) for line in printed.splitlines()) <= request.param
        # neither cut off, nor types of Python
        assert "\u2026" not in printed
        assert "<" not in printed
        return printed

    return run


def flags(printed):
    """The options that stand at the beginning of a line."""
    listed = printed[printed.index("Arguments") :].splitlines()
    words = [line.replace(",", " ").split() for line in listed if line.startswith("  -")]
    return {word for line in words for word in line if word.startswith("--")}


def test_the_help_of_fit_is_short(shown):
    printed = shown("fit", "--help")
    assert flags(printed) == set(SHORT["fit"])
    assert len(printed.splitlines()) <= 70
    assert "fit --help-all" in " ".join(printed.split())


def test_all_of_it_is_shown_on_demand(shown):
    printed = shown("fit", "--help-all")
    for line in TABLE:
        assert all(name in printed for name in line.typed.replace("/", " ").split())
    assert "tied" in printed


@pytest.mark.parametrize("typed", [("plsa",), ("--model", "plsa")])
def test_the_options_of_one_model(shown, typed):
    found = flags(shown("fit", *typed, "--help"))
    assert {"--prior", "--solver", "--topics", "--text", "--seed"} <= found
    assert not {"--words", "--alpha-topics", "--shared", "--graph"} & found


@pytest.mark.parametrize("command", ["search", "transform", "predict", "evaluate", "topics", "demo"])
def test_other_commands_show_all_they_have(shown, command):
    printed = shown(command, "--help")
    assert printed.startswith("Usage: ")
    assert "Examples" in printed
    assert shown(command, "--help-all") == printed


def test_models_are_named(shown):
    printed = shown("fit", "--help")
    assert all(name in printed for name in RECIPES)


@pytest.mark.parametrize(("typed", "commands"), [((), ["fit", "search"]), (("datasets",), ["show"])])
def test_commands_of_commands_are_listed(shown, typed, commands):
    printed = shown(*typed, "--help")
    listed = printed[printed.index("Commands") : printed.index("Options")]
    assert all(f"\n  {command} " in listed for command in commands)


def test_a_mistake_shows_the_same_usage(laconic):
    said = laconic("search", code=2).stderr
    assert "search DIR [QUERY...] [OPTIONS]\n" in said
    assert "{" not in said
