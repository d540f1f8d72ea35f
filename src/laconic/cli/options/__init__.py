"""The options."""
