import doctest
from pathlib import Path


def test_the_examples_of_the_manual():
    page = Path(__file__).parents[2] / "docs" / "evaluate.md"
    result = doctest.testfile(str(page), module_relative=False)
    assert result.attempted > 20
    assert result.failed == 0
