import re

import pytest

from laconic.datasets.registry import KNOWN
from laconic.experiments import EXPERIMENTS, find


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_entries_and_modules_agree(name):
    experiment = find(name)
    assert experiment.name == name
    assert list(experiment.parts) == list(experiment.needs)
    assert experiment.title
    assert experiment.about
    assert "\n" not in experiment.summary
    assert {data for needed in experiment.needs.values() for data in needed} <= set(KNOWN)


def test_parts_come_in_the_order_of_the_page():
    experiment = find("gplsa")
    assert experiment.chosen([]) == list(experiment.needs)
    assert experiment.chosen(["europarl", "coil20"]) == ["coil20", "europarl"]


def test_unknown_names():
    with pytest.raises(ValueError, match=re.escape("did you mean 'priors'?")):
        find("prior")
    with pytest.raises(ValueError, match=re.escape("gplsa has no part 'coil'; did you mean 'coil20'?")):
        find("gplsa").chosen(["coil"])
