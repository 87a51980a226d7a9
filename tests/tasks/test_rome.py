""" "Rome was built in 1776": its files, its parts and the views of them."""

from collections import Counter

import pytest

from parlai_q2.errors import RecordError
from parlai_q2.tasks.rome.reader import class_of, read_file, read_part
from tests.tasks.annotated_sets import SALT, TALK, rome_csv
from tests.tasks.evaluating import messages

TASK = 'parlai_q2.tasks.rome.agents'
ANNOTATED = f'{TASK}:AnnotatedTeacher'


@pytest.mark.parametrize(
    'part, rows',
    [
        ('', 15),
        (':expert', 3),
        (':gt', 5),
        (':crowd', 12),
        (':crowd:expert', 15),
        (':gt:knn', 10),
        (':small:expert', 3),
        (':gt:beam', 2),
        (':gt:delayed:nucleus', 3),
        (':crowd:generic', 3),
        (':dpr:inconsistent', 0),
    ],
)
def test_words_choose_parts_models_decodings_and_classes(sets, part, rows):
    assert len(messages(ANNOTATED + part)) == rows


def test_a_verifiable_response_that_nobody_annotated_is_left_out(
    sets, monkeypatch, caplog
):
    row = ('7', 'GPT2-small', 'DBS', TALK, SALT, 'It is.', '', '', 'y')
    path = sets / 'rome' / 'gt.csv'
    path.write_bytes(rome_csv([row, (*row[:6], '1.0', 'No', 'y')]))
    monkeypatch.setattr(
        'parlai_q2.tasks.rome.reader.build', lambda datapath, needed: path.parent
    )
    assert len(read_part(str(sets), ['gt'])) == 1
    assert '1 verifiable responses have no annotation and are left out.' in caplog.text


@pytest.mark.parametrize(
    'column, value, problem',
    [
        (1, 'GPT3', "'GPT3' is not one of GPT2-xlarge"),
        (2, 'greedy', "'greedy' is not one of beam search"),
        (7, 'maybe', "Hallucination is 'maybe', not yes or no"),
        (8, '?', "Verifiable is '\\?', not yes or no"),
    ],
)
def test_a_broken_row_is_named_with_its_line(tmp_path, column, value, problem):
    row = ['7', 'GPT2-small', 'DBS', TALK, SALT, 'Yes.', '1.0', 'No', 'y']
    row[column] = value
    path = tmp_path / 'rows.csv'
    path.write_bytes(rome_csv([row]))
    with pytest.raises(RecordError, match=problem) as caught:
        read_file(path, 'gt')
    assert caught.value.line == 2


@pytest.mark.parametrize('value', ['1.5', '3.0', 'good', '-1'])
def test_an_odd_rating_is_named_and_counts_as_missing(tmp_path, caplog, value):
    row = ['7', 'GPT2-small', 'DBS', TALK, SALT, 'Yes.', value, 'No', 'y']
    path = tmp_path / 'rows.csv'
    path.write_bytes(rome_csv([row]))
    (response,) = read_file(path, 'gt')
    assert (response.extra['factual'], response.label, response.human) == (None, '', {})
    assert '1 values of Avg Factual Correctness are not in [0, 1]' in caplog.text
    assert f'{value!r} on line 2' in caplog.text


@pytest.mark.parametrize(
    'factual, hallucination, by_factual, by_hallucination',
    [
        # "factual consistency score >= 0.5 is labeled as consistent"
        (0.5, True, 'consistent', 'inconsistent'),
        (0.33, False, 'inconsistent', 'consistent'),
        (None, None, '', ''),
    ],
)
def test_the_paper_and_the_other_rule(
    factual, hallucination, by_factual, by_hallucination
):
    assert class_of(True, factual, hallucination) == by_factual
    assert class_of(True, factual, hallucination, 'hallucination') == by_hallucination
    assert class_of(False, factual, hallucination) == 'generic'


@pytest.mark.real_data('data/test')
class TestThePublishedExpertFile:
    @pytest.fixture
    def published(self, shared, tmp_path):
        (tmp_path / 'rome').mkdir()
        data = (shared / 'data' / 'test' / 'rome_expert.csv').read_bytes()
        (tmp_path / 'rome' / 'factual_dataset_expert.csv').write_bytes(data)
        return str(tmp_path)

    @pytest.mark.parametrize(
        'rule, consistent, inconsistent',
        # Santhanam et al. 2021 count 502 and 82.
        [('factual', 502, 82), ('hallucination', 470, 114)],
    )
    def test_its_classes(self, published, caplog, rule, consistent, inconsistent):
        labels = Counter(r.label for r in read_part(published, ['expert', rule]))
        assert labels == {
            'consistent': consistent,
            'inconsistent': inconsistent,
            'generic': 342,
        }
        assert "'3.0' on line 400" in caplog.text
