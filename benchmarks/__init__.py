"""Measurements beside the package: scripts that a checkout has."""
