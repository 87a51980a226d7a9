"""Finds the passages of documents that a reply can be grounded in."""
