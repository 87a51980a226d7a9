"""BEGIN's files: placed by hand, broken, and the published ones."""

import hashlib
from collections import Counter
from pathlib import Path

import pytest

from parlai_q2.errors import RecordError, TaskDataError
from parlai_q2.io.downloads import _warn_unverified
from parlai_q2.tasks.begin.reader import COLUMNS, read_file, read_part
from tests.tasks.annotated_sets import tsv
from tests.tasks.evaluating import messages

TASK = 'parlai_q2.tasks.begin.agents'
ANNOTATED = f'{TASK}:AnnotatedTeacher'
REAL = Path(__file__).parents[3] / 'shared' / 'data' / 'dev' / 'begin'


def test_a_file_of_another_length_is_refused(sets):
    path = sets / 'begin' / 'begin_test_wow.tsv'
    text = path.read_text('utf-8')
    path.write_bytes(text.encode('utf-8') + b'x')
    with pytest.raises(TaskDataError, match=f'not have {len(text)} characters'):
        messages(ANNOTATED, 'test')
    # One character of three bytes for another: the length is counted in characters.
    path.write_bytes(text.replace('–', '-').encode('utf-8'))
    assert len(messages(ANNOTATED, 'test')) == 3


def test_a_file_of_which_nothing_is_known_is_taken_with_a_warning(sets, caplog):
    _warn_unverified.cache_clear()
    (message,) = messages(f'{TASK}:CmuTeacher', 'test')
    path = sets / 'begin' / 'begin_test_cmu.tsv'
    assert message['response'] == 'Yes .'
    (warning,) = [r.getMessage() for r in caplog.records if 'checksum' in r.msg]
    assert warning.startswith('No checksum of begin_test_cmu.tsv')
    assert hashlib.sha256(path.read_bytes()).hexdigest() in warning


@pytest.mark.parametrize(
    'text, problem, line',
    [
        (b'', 'the file is empty', 1),
        (b'model_name\tknowledge\n', "no column 'data_source'", 1),
        (tsv(COLUMNS, [('a', 'b')]), 'has 2 fields, and the header 6', 2),
        (tsv(COLUMNS, [('a',) * 6]), "the label is 'a'; it must be Fully", 2),
        (tsv(COLUMNS, []) + b'\xff\n', 'is not UTF-8', 1),
    ],
)
def test_a_broken_row_is_named_with_its_line(tmp_path, text, problem, line):
    path = tmp_path / 'rows.tsv'
    path.write_bytes(text)
    with pytest.raises(RecordError, match=problem) as caught:
        read_file(path)
    assert caught.value.line == line


@pytest.mark.real_data
@pytest.mark.skipif(not REAL.exists(), reason='the published files are not here')
class TestThePublishedDevFiles:
    @pytest.fixture
    def published(self, tmp_path, monkeypatch):
        (tmp_path / 'begin').symlink_to(REAL)
        monkeypatch.setenv('PARLAI_DATAPATH', str(tmp_path))
        return tmp_path

    def test_the_classes_have_the_counts_of_the_files(self, published):
        turns = read_part(str(published))
        assert Counter((t.extra['corpus'], t.label) for t in turns) == {
            ('wow', 'consistent'): 180,
            ('wow', 'inconsistent'): 250,
            ('cmu', 'consistent'): 59,
            ('cmu', 'inconsistent'): 278,
            ('cmu', 'generic'): 79,
            ('tc', 'consistent'): 74,
            ('tc', 'inconsistent'): 307,
            ('tc', 'generic'): 2,
        }
