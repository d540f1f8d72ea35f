"""What is raised about search indexes on disk."""


class SearchError(ValueError):
    """A search index that cannot be used; the message says why and what to do."""
