"""What can be imported from ``parlai_q2`` is listed, typed and documented alike."""

import ast

import parlai_q2
from tests.conftest import ROOT
from tests.files import load_script

make_reference = load_script(ROOT / 'docs' / 'make_reference.py')

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
    loaded = {n for names in parlai_q2._PUBLIC.values() for n in names.split()}
    assert typed_names() == loaded == PUBLIC
    for name in PUBLIC:
        assert getattr(parlai_q2, name).__name__ == name


def test_the_reference_describes_them_and_is_current():
    described = ' '.join(
        modules.get('parlai_q2', '') for modules in make_reference.SECTIONS.values()
    )
    assert sorted(described.split()) == sorted(PUBLIC)
    page = make_reference.PAGE.read_text('utf-8')
    assert page == make_reference.render_reference(), 'python docs/make_reference.py'
