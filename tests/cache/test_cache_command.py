"""``parlai_q2 cache``, and the options that other commands share with it."""

import pytest
from parlai.core.params import ParlaiParser

from parlai_q2.cache import ScoreCache, default_cache_path
from parlai_q2.cli.commands import run_command
from parlai_q2.cli.scorer_options import add_scorer_options, scorer_from_opt
from parlai_q2.errors import ConfigError, UnknownNameError
from parlai_q2.scorers.calibrated import CalibratedCachedScorer
from parlai_q2.scripts import cache as command_module
from parlai_q2.signature import Signature, digits
from tests.cache.counting import scores

A = str(Signature('a', {'beam': 5}))
B = str(Signature('b', {'beam': 5}))


@pytest.fixture
def cache():
    """The default cache: three scores of one recipe, five of another."""
    cache = ScoreCache()
    cache.put(A, scores(3))
    cache.put(B, scores(5))
    return cache


def command(*arguments):
    return run_command('cache', *arguments)


def test_it_shows_where_how_much_and_of_what(cache, capsys):
    files = command()
    output = capsys.readouterr().out
    assert files['path'] == str(default_cache_path())
    assert files['path'] in output
    rows = [(s['signature'], s['rows']) for s in files['signatures']]
    assert rows == [(B, 5), (A, 3)]
    assert 'of at most 1.0 GiB' in output
    assert '5 scores' in output
    assert B not in output
    assert Signature('b', {'beam': 5}).short in output
    command('--verbose')
    assert B in capsys.readouterr().out


def test_it_clears_all(cache, capsys):
    assert command('--clear', 'all')['cleared'] == 8
    assert 'holds no scores' in capsys.readouterr().out
    assert cache.signatures() == []


def test_it_clears_one_signature_by_its_first_digits(cache):
    short = digits(A)
    removed = command('--clear', short[:6])
    assert removed['cleared'] == 3
    assert [s['signature'] for s in removed['signatures']] == [B]


def test_an_unknown_signature_is_an_error_that_names_the_known(cache):
    with pytest.raises(UnknownNameError, match=digits(A)):
        command_module.clear(cache, 'ffffffffffffff')


def test_digits_that_begin_two_signatures_are_an_error(cache):
    with pytest.raises(ConfigError, match='beginning of 2 signatures'):
        command_module.clear(cache, '')


def opt(*arguments):
    parser = add_scorer_options(ParlaiParser(False, False))
    return parser.parse_args(list(arguments))


def is_cached(*arguments, default=False):
    return isinstance(
        scorer_from_opt(opt(*arguments), cache=default), CalibratedCachedScorer
    )


def test_a_command_chooses_its_default_and_a_person_overrules_it():
    assert not is_cached()
    assert is_cached(default=True)
    assert is_cached('--cache', 'true')
    assert not is_cached('--cache', 'false', default=True)


def test_naming_a_file_asks_for_the_cache(tmp_path):
    file = str(tmp_path / 'mine.sqlite')
    scorer = scorer_from_opt(opt('--cache-file', file))
    assert str(scorer.reuse.store.path) == file
    assert not is_cached('--cache-file', file, '--cache', 'false')


def test_zero_is_an_error_and_not_the_default():
    with pytest.raises(ConfigError, match='A batch size'):
        scorer_from_opt(opt('--scorer-batch-size', '0', '--cache', 'true'))
