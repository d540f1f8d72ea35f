"""The table of options: what follows from a line, and that no parameter is forgotten."""

import ast
import inspect
from pathlib import Path

import pytest
from cli_documents import write_jsonl
from typer.testing import CliRunner

import laconic as package
from laconic import RLSI, Corpus, load
from laconic.cli.app import app
from laconic.cli.options import parsing, table
from laconic.cli.options.declaring import Command, bad_usage, but, command
from laconic.cli.options.defaults import library_defaults
from laconic.cli.options.line import Option
from laconic.cli.options.table import (
    MODEL,
    OF_COMMANDS,
    PYTHON_ONLY,
    READING,
    TABLE,
    TERMS,
    option_of,
    worded,
)
from laconic.corpus import Vectorizer
from laconic.errors import InputError, Parameter
from laconic.models import HOMES, MODELS, making, parameters
from laconic.models.parameters import PARAMETERS, Choice, Number
from laconic.reading import read_documents
from laconic.signatures import taken_by, taken_in


class Damped(RLSI):
    """A model with one more parameter."""

    def __init__(self, n_components=10, *, damping=0.5, topic_norm="l1", doc_norm="l2", alpha_topics=None,
                 alpha_docs=None, terms_per_topic=None, nonnegative=False, init="documents", max_iter=200,
                 tol=1e-5, random_state=None, n_jobs=None, verbose=0):  # fmt: skip
        given = dict(locals())
        for name in inspect.signature(Damped).parameters:
            setattr(self, name, given[name])


@pytest.fixture
def with_a_line(monkeypatch):
    """The table with one more line, and a model that has the parameter."""
    monkeypatch.setitem(MODELS, "RLSI", Damped)
    monkeypatch.setitem(parameters.PARAMETERS, "damping", Number(float, 0))
    line = Option("--damping", "damping", MODEL, "How much steps are held back.")
    monkeypatch.setattr(table, "TABLE", TABLE)
    TABLE.append(line)
    yield line
    TABLE.remove(line)


def test_one_line_is_an_option(laconic, with_a_line, jsonl, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    help = laconic("fit", "--help-all").stdout
    (shown,) = (line for line in help.splitlines() if "--damping" in line)
    for part in ("NUMBER", "How much steps are held back.", "[0.5]"):
        assert part in shown
    arguments = ["fit", jsonl, "--text", "body", "-k", 3, "-o", tmp_path / "m"]
    made = []
    monkeypatch.setattr(Damped, "fit", lambda self, *args, **kwargs: made.append(self) or _stop())
    laconic(*arguments, "--damping", 0.25, code=1)
    assert made[0].damping == 0.25
    refused = laconic(*arguments, "--damping", "inf", code=2).stderr
    assert "--damping must be a number of at least 0" in refused
    refused = laconic(*arguments, "--damping", 1, "--model", "plsa", code=2).stderr
    assert "for --damping: --model plsa does not take --damping; use it with rlsi" in refused
    assert str(Parameter("damping", 2)) == "damping=2"
    assert worded(Parameter("damping", 2)) == "--damping 2"


def _stop():
    raise InputError("lower ", Parameter("damping"))


def test_an_error_from_the_depths_is_worded_for_who_types(laconic, with_a_line, jsonl, tmp_path, monkeypatch):
    monkeypatch.setattr(Damped, "fit", lambda self, *args, **kwargs: _stop())
    failed = laconic("fit", jsonl, "--text", "body", "-o", tmp_path / "m", code=1)
    assert failed.stderr.splitlines()[-1] == "laconic: error: lower --damping"


def _known_options():
    return {name for line in TABLE for name in line.names.split()}


@pytest.mark.parametrize("kind", list(MODELS))
def test_no_parameter_of_a_model_is_forgotten(kind):
    taken = set(inspect.signature(MODELS[kind]).parameters)
    assert taken - _known_options() - {**PYTHON_ONLY, **OF_COMMANDS}.keys() == set()


@pytest.mark.parametrize("function", [Vectorizer, read_documents, Corpus.read])
def test_no_parameter_of_reading_and_counting_is_forgotten(function):
    taken = set(inspect.signature(function).parameters) - {"path", "options"}
    assert taken - _known_options() - {**PYTHON_ONLY, **OF_COMMANDS}.keys() == set()


def test_the_table_has_nothing_that_is_not_there():
    models = {name for kind in MODELS.values() for name in inspect.signature(kind).parameters} | {
        "n_topics",
        "words",
        "model",
        "graph",
    }
    vectorizer, reader = (set(inspect.signature(each).parameters) for each in (Vectorizer, Corpus.read))
    for line in TABLE:
        owner = {"parameters": models, "terms": vectorizer, "reading": reader, "columns": {"texts"}}
        assert line.name in owner[line.kind.argument], line.flag
    assert PYTHON_ONLY.keys() <= models | vectorizer | reader
    assert not PYTHON_ONLY.keys() & _known_options()
    flags = [flag for line in TABLE for flag in (*line.typed.replace("/", " ").split(), *line.formerly)]
    assert len(flags) == len(set(flags))


def test_defaults_are_those_of_the_library_and_told_where_there_are_any():
    vectorizer, reader = taken_by(Vectorizer), taken_by(Corpus.read)
    for line in TABLE:
        if line.kind is TERMS:
            assert library_defaults(line.name) == {"": vectorizer[line.name]}
        elif line.kind is READING:
            assert library_defaults(line.name) == {"": reader[line.name]}
    told = {line.flag: line.default_words() for line in TABLE}
    for flag, words in {
        "--min-df": "2",
        "--ngrams": "1",
        "--weighting": "log-entropy",
        "--encoding": "utf-8",
        "--label": None,
        "--model": "rlsi",
        "--topics": str(making.N_TOPICS),
        "--words": str(making.WORDS),
        "--shared": str(making.N_SHARED),
        "--max-iter": "200, 500 for plsa",
        "--tol": "1e-05",
        "--seed": "0",
        "--strength": "0.3 for graph-plsa, 1.0 for multimodal-plsa",
        "--dry-run": None,
    }.items():
        assert told.get(flag) == words


def test_words_for_a_default_stand_where_it_is_none():
    """What the library can tell is not said again; these are where it says less than is meant."""
    said_better = {"--topic-norm", "--signed", "--id", "--delimiter", "--vocabulary", "--graph", "--jobs"}
    for line in TABLE:
        if line.shown is not None and line.flag not in said_better:
            assert set(library_defaults(line.name).values()) == {None}, line.flag


def test_limits_and_choices_are_those_of_the_models():
    for line in TABLE:
        for name in line.names.split():
            rule = PARAMETERS.get(name)
            if isinstance(rule, Choice) and line.value_type is not bool:
                assert tuple(choice.value for choice in line.value_type) == rule.values
            if isinstance(rule, Number):
                (information,) = line.parameter().annotation.__metadata__
                assert information.min == rule.least
    assert set(inspect.signature(making.make_model).parameters) >= {"n_topics", "words"}


@pytest.mark.parametrize("kind", list(MODELS))
def test_signatures_in_the_source_are_those_of_the_classes(kind):
    for method in ("__init__", "fit"):
        own = vars(MODELS[kind]).get(method)
        assert taken_in(HOMES[kind], method, kind) == ({} if own is None else taken_by(own))
    assert making.takers_of("graph") == ["graph-plsa", "multimodal-plsa"]


def test_signatures_without_a_source(monkeypatch):
    taken = dict(taken_in("laconic.models.rlsi", "__init__", "RLSI"))
    monkeypatch.setattr(Path, "read_text", lambda *args, **kwargs: (_ for _ in ()).throw(OSError()))
    assert taken_in.__wrapped__("laconic.models.rlsi", "__init__", "RLSI") == taken
    assert taken_in.__wrapped__("laconic.models.rlsi", "fit", "RLSI") == {}


def _names_in_errors():
    """The names of parameters that stand in the library's source as those of messages."""
    calls = {"Parameter", "check_number", "check_choice"}
    for path in Path(package.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) in calls:
                first = node.args[0]
                if isinstance(first, ast.Constant):
                    yield first.value, path


# Of functions that no command calls with them, or only after its own check.
ELSEWHERE = {
    "a p-value", "b", "decay", "depth", "documents", "folds", "it", "k", "k1", "learning_rate", "mean_length",
    "host", "measure", "mode", "n", "n_refits", "n_resamples", "n_runs", "n_samples", "n_terms", "name",
    "encoder", "names", "new_topics", "order", "port", "scaling", "sort",
    "seeds", "similarity", "smoothing", "splits", "terms", "token",
    "topic", "topics", "unknown", "window",
    # of priors, whose text names them
    "rate", "shape", "eps", "weight", "over",
}  # fmt: skip


def test_every_parameter_that_an_error_names_has_a_wording():
    found = dict(_names_in_errors())
    assert {"min_df", "encoding", "n_components", "on_error", "init"} <= found.keys()
    without = {name: path for name, path in found.items() if option_of(name) is None}
    assert without.keys() <= PYTHON_ONLY.keys() | OF_COMMANDS.keys() | ELSEWHERE
    for name in found:
        said = worded(Parameter(name))
        assert said.startswith("--") or name in PYTHON_ONLY.keys() | ELSEWHERE


@pytest.mark.parametrize(
    ("parameter", "typed"),
    [
        (Parameter("delimiter", "\t"), r"--delimiter '\t'"),
        (Parameter("encoding", "utf-16"), "--encoding utf-16"),
        (Parameter("on_error", "skip"), "--on-error skip"),
        (Parameter("terms_per_topic", 5), "--words 5"),
        (Parameter("row_normalize", False), "--raw-counts"),
        (Parameter("row_normalize", True), "no --raw-counts"),
        (Parameter("sublinear_tf", True), "--sublinear-tf"),
        (Parameter("prior", package.priors.Pareto(2)), "--prior pareto:2"),
        (Parameter("loss", "squared"), "--model nmf"),
        (Parameter("token_pattern"), "token_pattern"),
        (Parameter("texts"), "--text-NAME"),
    ],
)
def test_parameters_as_they_are_typed(parameter, typed):
    assert worded(parameter) == typed


def test_an_error_of_usage_names_its_option_once():
    begins = bad_usage(InputError(Parameter("min_df", 0), " is too few"))
    assert (begins.param_hint, begins.message) == (None, "--min-df 0 is too few")
    later = bad_usage(InputError("lower ", Parameter("min_df")))
    assert (later.param_hint, later.message) == ("--min-df", "lower --min-df")
    assert bad_usage(InputError("no parameter")).param_hint is None


def test_a_command_receives_its_options_sorted():
    received = {}

    @command(but(READING, "label"), TERMS)
    def toy(times: int = 1, *, reading, terms):
        received.update(times=times, reading=reading, terms=terms)

    assert isinstance(toy, Command)
    keys = inspect.signature(toy).parameters
    assert "label" not in keys
    typed = {**dict.fromkeys(keys), "times": 3, "text": ["body"], "delimiter": r"\t", "stop_words": "none"}
    toy(**typed, ngrams=2) if "ngrams" not in typed else toy(**{**typed, "ngrams": 2})
    assert received == {
        "times": 3,
        "reading": {"text": "body", "delimiter": "\t"},
        "terms": {"stop_words": None, "ngram_range": (1, 2)},
    }


@pytest.fixture
def renamed_option(monkeypatch):
    place = next(place for place, line in enumerate(TABLE) if line.flag == "--topics")
    line = TABLE[place]
    TABLE[place] = Option(line.typed, line.names, line.kind, line.help, formerly=("--n-topics",))
    yield
    TABLE[place] = line


@pytest.mark.parametrize("typed", [["--n-topics", "3"], ["--n-topics=3"]])
def test_a_former_name_of_an_option_is_accepted_with_a_warning(
    laconic, renamed_option, jsonl, tmp_path, typed
):
    said = laconic("fit", jsonl, "--text", "body", *typed, "-o", tmp_path / "m").stderr
    assert said.startswith("laconic: warning: --n-topics has been renamed to --topics; the next version ")
    assert load(tmp_path / "m").model.n_components == 3
    assert "--n-topics" not in laconic("fit", "--help").stdout
    assert "No such option" in laconic("transform", "m", jsonl, "-o", "w.csv", *typed, code=2).stderr
    environment = {
        "_LACONIC_COMPLETE": "complete_bash",
        "COMP_WORDS": "laconic fit a.csv --n-topics 3 --n-",
        "COMP_CWORD": "5",
    }
    completed = CliRunner().invoke(app, [], prog_name="laconic", env=environment)
    assert (completed.stdout.split(), completed.stderr) == ([], "")


def test_what_follows_a_double_dash_is_no_option(renamed_option):
    known = {"--topics"}
    assert parsing.renamed(["--", "--n-topics"], known) == ["--", "--n-topics"]
    assert parsing.renamed(["--n-topics", "3"], set()) == ["--n-topics", "3"]


def test_stop_words_of_a_file_with_an_equals_sign(laconic, rows, tmp_path, monkeypatch):
    """Which would name a modality, if there were several."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lang=en.txt").write_text("apple\n")
    path = write_jsonl(tmp_path / "t.jsonl", rows)
    laconic("fit", path, "--text", "body", "-k", 2, "--stop-words", "lang=en.txt", "-o", "m")
    assert load(tmp_path / "m").vectorizer.to_dict()["stop_words"] == ["apple"]
