"""
The ``parlai_q2`` command itself: versions, help, and what it says of an error.
"""

import importlib.metadata

import pytest

from parlai_q2 import __main__ as command
from parlai_q2.errors import ConfigError, UnknownNameError


@pytest.mark.parametrize('option', ['--version', '-V'])
def test_the_version_names_what_a_report_of_a_problem_should(
    monkeypatch, capsys, option
):
    monkeypatch.setattr('sys.argv', ['anything', option])
    command.main()
    shown = capsys.readouterr().out
    assert shown.startswith('parlai_q2 ') and ', parlai 1' in shown
    assert ', torch ' in shown and ', transformers ' in shown


def test_a_package_that_is_missing_is_named_too(monkeypatch):
    version_of = importlib.metadata.version

    def without_torch(package):
        if package == 'torch':
            raise importlib.metadata.PackageNotFoundError
        return version_of(package)

    monkeypatch.setattr(importlib.metadata, 'version', without_torch)
    assert ', torch is not installed, ' in command.version()


def test_an_error_of_ours_is_a_message_and_no_traceback(monkeypatch, capsys):
    def refuse(arguments):
        raise ConfigError(f'Not with {arguments}.')

    monkeypatch.setattr('sys.argv', ['anything', 'score'])
    monkeypatch.setattr(command, 'run', refuse)
    with pytest.raises(SystemExit) as end:
        command.main()
    assert end.value.code == 2
    assert capsys.readouterr().err == "Not with ['score'].\n"


@pytest.mark.parametrize('arguments', [[], ['-h'], ['--help'], ['help']])
def test_help_lists_our_commands_beside_parlais(monkeypatch, capsys, arguments):
    monkeypatch.setattr('sys.argv', ['parlai_q2'])
    try:
        command.run(arguments)
    except SystemExit as end:
        assert not end.code
    shown = capsys.readouterr().out
    for name in ('score', 'rerank', 'meta_eval', 'eval_model'):
        assert name in shown


def test_a_command_that_there_is_not_names_the_nearest(monkeypatch):
    monkeypatch.setattr('sys.argv', ['parlai_q2'])
    with pytest.raises(UnknownNameError, match="Did you mean 'score'"):
        command.run(['scroe'])
