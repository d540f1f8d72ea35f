"""Data sets that people compare topic models on, read from a folder of your own.

Looked for are folders with the names of data sets, in the folder that the environment variable
``LACONIC_DATA`` names and then in the user's cache folder. Nothing is ever downloaded.

Examples
--------
>>> from laconic import datasets
>>> [info.name for info in datasets.available() if info.kind == "images"]
['coil20', 'pie_pose27']
"""

from laconic.datasets.folders import Info, available, search_folders
from laconic.datasets.loading import load
from laconic.datasets.records import (
    Counts,
    Dataset,
    Graph,
    Groups,
    Images,
    Multimodal,
    Parallel,
    Retrieval,
    Texts,
)
from laconic.errors import DatasetError

__all__ = [
    "Counts",
    "Dataset",
    "DatasetError",
    "Graph",
    "Groups",
    "Images",
    "Info",
    "Multimodal",
    "Parallel",
    "Retrieval",
    "Texts",
    "available",
    "load",
    "search_folders",
]
