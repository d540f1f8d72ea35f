"""Topic models in few words."""

__version__ = "0.1.0"
