"""Directories of checked files that are replaced as a whole or not at all; nothing here knows what is stored.

A kind of directory (`laconic.storage.manifest.Kind`) has a document of its own name, such as ``model.json``,
and the files that it lists.
"""
