"""The examples in docstrings give what they say, and the public names have some."""

import doctest
import inspect
from importlib import import_module
from pathlib import Path

import pytest

import parlai_q2
from parlai_q2.scorers import registry

# Of these an example would be one of its base class.
WITHOUT_EXAMPLES = {
    'ConfigError',
    'DocumentError',
    'MissingPackageError',
    'ModelError',
    'ModelNotFoundError',
    'RecordError',
    'ServerError',
    'TaskDataError',
    'UnknownNameError',
    'WorkerError',
}


def with_examples() -> list[str]:
    """The modules whose docstrings have examples; the others are not imported."""
    root = Path(parlai_q2.__file__).parent
    modules = []
    for path in sorted(root.rglob('*.py')):
        parts = path.relative_to(root.parent).with_suffix('').parts
        if '>>> ' in path.read_text('utf-8'):
            modules.append('.'.join(parts[:-1] if parts[-1] == '__init__' else parts))
    return modules


@pytest.fixture
def own_names(monkeypatch):
    """What an example registers is forgotten."""
    monkeypatch.setattr(registry, '_SCORERS', dict(registry._SCORERS))


@pytest.mark.parametrize('name', with_examples())
def test_the_examples_of_a_module_are_true(name, own_names):
    module = import_module(name)
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_every_public_name_says_what_it_is():
    for name in parlai_q2.__all__:
        if name.startswith('_'):
            continue
        thing = getattr(parlai_q2, name)
        text = inspect.getdoc(thing) or ''
        assert text, name
        assert ('>>> ' in text) != (name in WITHOUT_EXAMPLES), name
