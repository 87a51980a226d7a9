"""The files of annotated sets: what words select of them, and what is refused."""

import copy
import hashlib
import json
import os
import shutil
from collections import Counter
from importlib import import_module

import pytest
from parlai.core.build_data import DownloadableFile

from parlai_q2.errors import ConfigError, RecordError, TaskDataError
from parlai_q2.io import data_sets
from parlai_q2.io.data_sets import _warn_unverified
from parlai_q2.tasks.begin.reader import COLUMNS
from parlai_q2.tasks.grounded_sample.reader import SAMPLE
from parlai_q2.tasks.rome.reader import classify_response
from parlai_q2.tasks.twins.reader import SHEET
from tests.tasks.annotated_sets import Q2_WOW, SALT, TALK, USR, rome_csv, tsv

CROSS, DNLI = 'q2_wow.read_cross_file', 'dialogue_nli.read_file'
USR_FILE = 'topical_chat_usr.read_file'
HEADER = Q2_WOW['cross_annotation.csv'].decode().splitlines()[0] + '\n'
SAMPLE_RECORDS, TWINS = (
    [json.loads(line) for line in path.read_text(encoding='utf-8').splitlines()]
    for path in (SAMPLE, SHEET)
)


def reader(task):
    return import_module(f'parlai_q2.tasks.{task}.reader')


def read(sets, task, words='', *fold):
    return reader(task).read_part(str(sets), [w for w in words.split(':') if w], *fold)


@pytest.mark.parametrize(
    'task, counts',
    [
        (
            'q2_wow',
            {
                '': 7,
                'dodeca': 4,
                'inconsistent': 3,
                'memnet:inconsistent': 2,
                'cross_annotation': 4,
                'inconsistent:cross_annotation': 2,
                'cross_annotation:memnet:consistent': 1,
            },
        ),
        (
            'begin',
            {
                '': (7, 3),
                'wow': (4, 1),
                'wow:cmu': (6, 2),
                'topicalchat': (1, 1),
                # As messages and files have it.
                'tc': (1, 1),
                'TC:wow': (5, 2),
                'consistent': (3, 1),
                'generic:cmu': (1, 1),
                't5': (2, 1),
                't5:inconsistent': (0, 0),
                'dev': (7, 7),
                'test:wow': (1, 1),
                'dev:test': (10, 10),
            },
        ),
        (
            'rome',
            {
                '': 15,
                'expert': 3,
                'gt': 5,
                'crowd': 12,
                'crowd:expert': 15,
                'small:expert': 3,
                'gt:beam': 2,
                'gt:delayed:nucleus': 3,
                'crowd:generic': 3,
                'dpr:inconsistent': 0,
            },
        ),
        (
            'dialogue_nli',
            {
                '': (4, 5),
                'gold': (3, 3),
                'dev:gold': (7, 7),
                'consistent': (1, 2),
                'pp': (1, 1),
                'uu:pp': (1, 2),
                'gold:inconsistent': (2, 2),
            },
        ),
        ('topical_chat_usr', {'': 5, 'argmax': 1, 'original:new_human': 3}),
        ('twins', {'time:inconsistent': (12, 10), 'dev:test:time': (44, 44)}),
    ],
)
def test_words_select_parts_systems_classes_and_folds(sets, task, counts):
    for words, count in counts.items():
        if isinstance(count, int):
            assert len(read(sets, task, words)) == count, words
        else:
            found = [len(read(sets, task, words, fold)) for fold in ('dev', 'test')]
            assert found == [*count], words


def changed_rome(column, value):
    row = ['7', 'GPT2-small', 'DBS', TALK, SALT, 'Yes.', '1.0', 'No', 'y']
    row[column] = value
    return rome_csv([row])


def changed_usr(quality, value):
    contexts = copy.deepcopy(USR)
    contexts[1]['responses'][0][quality] = value
    return contexts


def second_line(records, line):
    return f'{json.dumps(records[0])}\n{line}\n'


@pytest.mark.parametrize(
    'name, text, problem, line',
    [
        ('begin.read_file', b'', 'the file is empty', 1),
        ('begin.read_file', b'model_name\tknowledge\n', "no column 'data_source'", 1),
        ('begin.read_file', tsv(COLUMNS, [('a', 'b')]), 'has 2 fields, and', 2),
        ('begin.read_file', tsv(COLUMNS, [('a',) * 6]), "is 'a'; it must be Fully", 2),
        ('begin.read_file', tsv(COLUMNS, []) + b'\xff\n', 'is not UTF-8', 1),
        (CROSS, '', "no column 'episode_idx'", 1),
        (CROSS, HEADER.replace('topic', 'reply'), "no column 'topic'", 1),
        (CROSS, HEADER + '0,1,2,K\n', 'more or fewer', 2),
        (CROSS, HEADER + '0,1,2,K,"no end,c,d,e\n', 'cannot be read as csv', 2),
        (CROSS, HEADER + '0,4,1,K,W?,a,b,c,d,0,maybe\n', "memnet_label is 'maybe'", 2),
        ('rome.read_file', changed_rome(1, 'GPT3'), "'GPT3' is not one of GPT2-x", 2),
        ('rome.read_file', changed_rome(2, 'greedy'), "'greedy' is not one of beam", 2),
        ('rome.read_file', changed_rome(7, 'maybe'), "is 'maybe', not yes or no", 2),
        ('rome.read_file', changed_rome(8, '?'), "Verifiable is '\\?', not yes", 2),
        (DNLI, '[{"label": "positive"', 'cannot be read as JSON', 1),
        (DNLI, '{"label": "positive"}', 'must hold a list', 1),
        (DNLI, '[{"label": "positive"}]', r"\(pair 1\) .* KeyError\('sentence2'\)", 1),
        (DNLI, '[{"label": "maybe"}]', "'maybe' is not one of", 1),
        (DNLI, '[1]', r'\(pair 1\) is not a pair', 1),
        (USR_FILE, [*USR, {'context': 'x'}], r"\(context 3\) .* KeyError\('fact'\)", 3),
        (USR_FILE, changed_usr('model', 'GPT'), "model 'GPT' is not one of", 2),
        (USR_FILE, changed_usr('Uses Knowledge', [0, 2, 1]), 'ratings are 0 or 1', 2),
        (USR_FILE, changed_usr('Overall', []), 'not a list of', 2),
        (USR_FILE, changed_usr('Overall', ['5']), 'not a list of ratings', 2),
        ('grounded_sample.read_sample', second_line(SAMPLE_RECORDS, '[]'), 'a rec', 2),
        ('grounded_sample.read_sample', second_line(SAMPLE_RECORDS, ''), 'a record', 2),
        (
            'twins.read_sheet',
            second_line(TWINS, '{"kind": "units"}'),
            'not a record',
            2,
        ),
    ],
)
def test_errors_name_the_broken_record(tmp_path, name, text, problem, line):
    task, function = name.split('.')
    path = tmp_path / 'file'
    text = json.dumps(text) if isinstance(text, list) else text
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(RecordError, match=problem) as caught:
        getattr(reader(task), function)(path, *(['gt'] if task == 'rome' else []))
    assert (caught.value.line, caught.value.source) == (line, str(path))


@pytest.mark.parametrize(
    'factual, hallucination, by_factual, by_hallucination',
    [
        # "factual consistency score >= 0.5 is labeled as consistent"
        (0.5, True, 'consistent', 'inconsistent'),
        (0.33, False, 'inconsistent', 'consistent'),
        (None, None, '', ''),
    ],
)
def test_the_papers_rule_and_the_other_one(
    factual, hallucination, by_factual, by_hallucination
):
    assert classify_response(True, factual, hallucination) == by_factual
    found = classify_response(True, factual, hallucination, 'hallucination')
    assert found == by_hallucination
    assert classify_response(False, factual, hallucination) == 'generic'


def test_a_verifiable_response_that_nobody_annotated_is_left_out(
    sets, monkeypatch, caplog
):
    row = ('7', 'GPT2-small', 'DBS', TALK, SALT, 'It is.', '', '', 'y')
    path = sets / 'rome' / 'gt.csv'
    path.write_bytes(rome_csv([row, (*row[:6], '1.0', 'No', 'y')]))
    monkeypatch.setattr(reader('rome'), 'build', lambda datapath, names: path.parent)
    assert len(read(sets, 'rome', 'gt')) == 1
    assert '1 verifiable responses have no annotation and are left out.' in caplog.text


@pytest.mark.parametrize('value', ['1.5', 'good', '-1'])
def test_an_odd_rating_is_named_and_counts_as_missing(tmp_path, caplog, value):
    path = tmp_path / 'rows.csv'
    path.write_bytes(changed_rome(6, value))
    (response,) = reader('rome').read_file(path, 'gt')
    assert (response.extra['factual'], response.label, response.human) == (None, '', {})
    assert '1 values of Avg Factual Correctness are not in [0, 1]' in caplog.text
    assert f'{value!r} on line 2' in caplog.text


def test_the_shipped_records_are_complete():
    for record in SAMPLE_RECORDS:
        assert all(record.values())
        assert record['knowledge'] in record['passage']
        assert len(record['passage']) >= 3
        assert record['response'] != record['gold']
    for record in TWINS:
        sides = [record[name] for name in ('knowledge', 'right', 'wrong')]
        assert all(text == text.strip() and text for text in sides)
        assert len({text.lower() for text in sides}) == 3


def test_folds_of_shipped_sets_are_apart_and_an_annotated_set_has_one():
    dev, test = (read('', 'twins', '', fold) for fold in ('dev', 'test'))
    assert len(dev) + len(test) == 2 * len(TWINS)
    assert {r.knowledge for r in dev}.isdisjoint(r.knowledge for r in test)
    for task in ('twins', 'begin'):
        with pytest.raises(ConfigError, match='one fold'):
            reader(task).annotated_set('', ['dev', 'test'])
    train, evaluation = (
        {r.dialogue for r in read('', 'grounded_sample', '', fold)}
        for fold in ('train', 'eval')
    )
    assert train.isdisjoint(evaluation)


def test_conversations_of_the_sample_are_read_by_name_in_their_order_from_any_fold():
    names = [SAMPLE_RECORDS[n]['id'].rpartition('-')[0] for n in (-1, 0)]
    turns = read('', 'grounded_sample', ':'.join(names))
    assert list(dict.fromkeys(turn.dialogue for turn in turns)) == names
    assert {turn.extra['fold'] for turn in turns} == {'train', 'eval'}


def test_a_file_of_which_nothing_is_known_is_taken_with_a_warning(sets, caplog):
    _warn_unverified.cache_clear()
    assert [r.response for r in read(sets, 'begin', 'cmu:test')] == ['Yes .']
    (warning,) = [r.getMessage() for r in caplog.records if 'checksum' in r.msg]
    assert warning.startswith('No checksum of begin_test_cmu.tsv')
    data = (sets / 'begin' / 'begin_test_cmu.tsv').read_bytes()
    assert hashlib.sha256(data).hexdigest() in warning


def test_a_wrong_file_is_refused_with_its_name_and_the_remedy(sets):
    path = sets / 'q2_wow' / 'memnet_consistent.csv'
    path.write_text('another file')
    with pytest.raises(TaskDataError, match='Delete it') as caught:
        read(sets, 'q2_wow')
    assert str(path) in str(caught.value)
    assert path.exists(), 'a file placed by hand is never deleted'


def test_a_failed_download_says_where_to_place_the_file(sets, monkeypatch):
    folder = sets / 'q2_wow'
    (folder / 'dodeca_consistent.csv').unlink()
    (folder / 'memnet_consistent.csv').unlink()

    def no_network(url, path):
        raise OSError('Connection broken.')

    monkeypatch.setattr(data_sets, 'download', no_network)
    with pytest.raises(
        TaskDataError, match=r'https://example.invalid/dodeca'
    ) as caught:
        read(sets, 'q2_wow')
    message = str(caught.value)
    assert 'dodeca_consistent.csv, memnet_consistent.csv' in message
    assert '~/parlai_data/q2_wow, and give --datapath' in message


def test_a_broken_download_is_not_left_behind(sets, monkeypatch):
    path = sets / 'q2_wow' / 'dodeca_consistent.csv'
    path.unlink()

    def error_page(url, path):
        path.write_text('404: Not Found')

    monkeypatch.setattr(data_sets, 'download', error_page)
    with pytest.raises(TaskDataError, match='Could not download'):
        read(sets, 'q2_wow')
    assert not path.exists()


def test_downloaded_files_are_read(sets, monkeypatch):
    urls = []
    for name in Q2_WOW:
        os.remove(sets / 'q2_wow' / name)

    def download(url, path):
        urls.append(url)
        path.write_bytes(Q2_WOW[url.rpartition('/')[2]])

    monkeypatch.setattr(data_sets, 'download', download)
    assert len(read(sets, 'q2_wow', 'cross_annotation')) == 4
    assert len(read(sets, 'q2_wow')) == len(read(sets, 'q2_wow')) == 7
    assert len(urls) == len(set(urls)) == 5


def test_dialogue_nli_is_fetched_by_parlais_own_task(sets, monkeypatch):
    folder, urls = sets / 'dialogue_nli', []
    placed = {path.name: path.read_bytes() for path in folder.iterdir()}
    shutil.rmtree(folder)

    def no_network(file, path):
        raise RuntimeError('quota exceeded')

    def download(file, path):
        urls.append(file.url)
        inner = folder / 'dnli' / 'dialogue_nli'
        inner.mkdir(parents=True)
        for name, data in placed.items():
            (inner / name).write_bytes(data)

    monkeypatch.setattr(DownloadableFile, 'download_file', no_network)
    with pytest.raises(TaskDataError, match=r'quota exceeded.*dialogue_nli_dev.jsonl'):
        read(sets, 'dialogue_nli')
    monkeypatch.setattr(DownloadableFile, 'download_file', download)
    for _ in range(2):
        assert len(read(sets, 'dialogue_nli', '', 'test')) == 5
    assert len(urls) == 1
    (folder / 'dnli' / 'dialogue_nli' / 'dialogue_nli_test.jsonl').unlink()
    with pytest.raises(TaskDataError, match=f'unpack it and .*_test.jsonl in {folder}'):
        read(sets, 'dialogue_nli', '', 'test')


@pytest.mark.real_data('data/dev/begin')
def test_the_published_dev_files_have_their_counts(shared):
    turns = reader('begin').read_part(str(shared / 'data' / 'dev'))
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
