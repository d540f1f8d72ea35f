"""The lowest versions that pyproject.toml declares, as constraints for pip; see ``make test-lowest``.

Usage: ``lowest_versions.py pyproject.toml > constraints.txt``. Packages that only tests need are left to pip.
"""

import re
import sys
import tomllib
from pathlib import Path

# What users install: the package itself and the extras that are a part of it.
EXTRAS = ("languages", "evaluate", "ltr", "papers", "excel", "report", "serve", "plots", "dask")


def lowest(pyproject):
    """The requirements of a project, each as its lowest version.

    >>> lowest({"dependencies": ["numpy>=1.26"], "optional-dependencies": {"ltr": ["lightgbm>=4.3", "more"]}})
    ['numpy==1.26', 'lightgbm==4.3']
    """
    extras = pyproject.get("optional-dependencies", {})
    declared = [*pyproject["dependencies"], *(one for name in EXTRAS for one in extras.get(name, ()))]
    found = [re.match(r"([A-Za-z0-9_.-]+)>=([0-9.]+)", one) for one in declared]
    return [f"{one[1]}=={one[2]}" for one in found if one]


if __name__ == "__main__":
    print("\n".join(lowest(tomllib.loads(Path(sys.argv[1]).read_text())["project"])))
