"""What can be imported from ``parlai_q2`` is listed, typed and documented alike."""

import ast
import re

import parlai_q2
from tests.conftest import ROOT

PUBLIC = {name for name in parlai_q2.__all__ if not name.startswith('_')}


def typed_names() -> set[str]:
    """What type checkers read: imports that are not made when the package is."""
    tree = ast.parse((ROOT / 'parlai_q2' / '__init__.py').read_text('utf-8'))
    return {
        alias.name
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_every_public_name_is_listed_typed_and_there():
    assert typed_names() == set(parlai_q2._PUBLIC) == PUBLIC
    for name in PUBLIC:
        assert getattr(parlai_q2, name).__name__ == name


def test_the_reference_lists_them_and_no_more():
    page = (ROOT / 'docs' / 'reference' / 'api.md').read_text('utf-8')
    table = page.partition('| name | what it is |')[2].partition('\n## ')[0]
    listed = re.findall(r'\{py:obj\}`(\w+) <parlai_q2\.([\w.]+)>`', table)
    assert sorted(name for name, _ in listed) == sorted(PUBLIC)
    assert all(place.endswith(f'.{name}') for name, place in listed)
    # Below the table each is described where it is defined, and nothing else is.
    own = page.partition('\n## ')[2].partition('## What other pages import')[0]
    described = re.findall(r':members: (.+)', own)
    assert sorted(', '.join(described).split(', ')) == sorted(PUBLIC)
