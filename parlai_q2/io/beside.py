"""
Names the files that are written next to another: parts, records, locks.
"""

from pathlib import Path


def beside(path: Path, ending: str) -> Path:
    """
    The path with an ending added to the file's name.
    """
    return path.with_name(path.name + ending)
