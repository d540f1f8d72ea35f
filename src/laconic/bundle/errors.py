"""The error about models on disk."""


class BundleError(ValueError):
    """A saved model cannot be read, or a model cannot be saved; the message names the file and the reason."""
