"""A killed run loses nothing: part files, cut lines, the final name, locks."""

import errno
import json
import os

import pytest

from parlai_q2.cli.commands import run_command
from parlai_q2.errors import InputError
from parlai_q2.io import write
from parlai_q2.io.files import cache_folder, locked
from parlai_q2.io.write import ResumableWriter, writable
from parlai_q2.parlai.filtered_files import conversation_file
from tests.files import read_lines

RUN = {'signature': 's', 'infile': 'i'}


def test_a_stopped_run_goes_on_after_its_last_whole_line(tmp_path):
    out = tmp_path / 'out.jsonl'
    writer = ResumableWriter(out, RUN)
    writer.write([{'n': 1}, {'n': 2}])
    writer.close()
    with open(writer.part, 'a') as stream:
        stream.write('{"n": 3')  # what a kill leaves
    again = ResumableWriter(out, RUN)
    assert again.done == 2
    assert list(again.lines()) == [{'n': 1}, {'n': 2}]
    again.write([{'n': 3}])
    again.finish({})
    assert read_lines(out) == [{'n': 1}, {'n': 2}, {'n': 3}]


@pytest.mark.parametrize('change', [{'signature': 'other'}, {'infile': 'other'}])
def test_a_part_file_of_another_run_is_not_gone_on_with(tmp_path, change):
    out = tmp_path / 'out.jsonl'
    writer = ResumableWriter(out, RUN)
    writer.write([{'n': 1}])
    writer.close()
    again = ResumableWriter(out, {**RUN, **change})
    assert again.done == 0
    again.close()
    (tmp_path / 'out.jsonl.part.run.json').write_text('{')
    assert ResumableWriter(out, RUN).done == 0


def stop(*paths):
    raise KeyboardInterrupt


def test_a_summary_never_stands_beside_another_runs_file(tmp_path, monkeypatch):
    outfile = tmp_path / 'out.jsonl'
    first = ResumableWriter(outfile, {'run': 1})
    first.write([{'of': 1}])
    first.finish({'run': 1})
    second = ResumableWriter(outfile, {'run': 2})
    second.write([{'of': 2}])
    with monkeypatch.context() as patched:
        patched.setattr(os, 'replace', stop)
        with pytest.raises(KeyboardInterrupt):
            second.finish({'run': 2})
    assert json.loads(outfile.read_text()) == {'of': 1}
    assert not second.meta.exists()
    second.finish({'run': 2})
    assert json.loads(outfile.read_text()) == {'of': 2}
    assert json.loads(second.meta.read_text()) == {'run': 2}


def test_any_text_can_be_written(tmp_path):
    out = tmp_path / 'out.jsonl'
    writer = ResumableWriter(out, RUN)
    records = [{'t': '🐼 \x00 \u2028 \u202e'}, {'t': 'lone \ud800 surrogate'}]
    writer.write(records)
    writer.finish({})
    assert len(out.read_bytes().split(b'\n')) == 3


@pytest.mark.parametrize('ending', write.ENDINGS)
def test_a_folder_of_a_name_beside_it_is_told_before_any_work(tmp_path, ending):
    (tmp_path / f'out.jsonl{ending}').mkdir()
    with pytest.raises(InputError, match=f'{ending} is a folder. Choose another'):
        ResumableWriter(tmp_path / 'out.jsonl', RUN)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_link_stays_and_what_it_points_to_is_written(tmp_path):
    target, link = tmp_path / 'there' / 'real.jsonl', tmp_path / 'link.jsonl'
    target.parent.mkdir()
    target.write_text('old')
    link.symlink_to(target)
    writer = ResumableWriter(link, RUN)
    writer.write([{'n': 1}])
    writer.finish({})
    assert link.is_symlink()
    assert read_lines(target) == [{'n': 1}]
    write.write_text(link, 'text')
    assert link.is_symlink()
    assert target.read_text() == 'text'
    assert write.locate_summary(link) == target.with_name('real.jsonl.meta.json')


def test_refuses_to_overwrite_special_files(tmp_path):
    pipe = tmp_path / 'pipe'
    os.mkfifo(pipe)
    for outfile, says in ((pipe, 'not a regular file'), (tmp_path, 'a folder')):
        with pytest.raises(InputError, match=f'{says}. Choose another --outfile'):
            ResumableWriter(outfile, RUN)
        with pytest.raises(OSError, match='not a regular file'):
            write.write_text(outfile, 'text')
    assert pipe.is_fifo()


def test_an_input_is_not_written_over(tmp_path):
    infile = tmp_path / 'in.jsonl'
    infile.write_text('here')
    (tmp_path / 'sub').mkdir()
    (tmp_path / 'link').symlink_to(infile)
    for outfile in (infile, tmp_path / 'sub' / '..' / 'in.jsonl', tmp_path / 'link'):
        with pytest.raises(InputError, match='is also an input'):
            writable(outfile, tmp_path / 'other.jsonl', infile)
    # What a killed run left would be written over by the run that reads it.
    for ending in ('.part', '.part.run.json', '.meta.json'):
        with pytest.raises(InputError, match='beside it, is also an input'):
            writable(tmp_path / 'out', tmp_path / f'out{ending}')
    with pytest.raises(InputError, match='Cannot write'):
        writable(tmp_path / ('x' * 300), infile)
    assert writable(tmp_path / 'new' / 'out', infile) == tmp_path / 'new' / 'out'


def test_two_runs_never_write_one_file(tmp_path):
    out = tmp_path / 'out.jsonl'
    first = ResumableWriter(out, RUN)
    first.write([{'n': 1}])
    with pytest.raises(InputError, match='Another run is writing'):
        ResumableWriter(out, RUN)
    first.finish({})
    with conversation_file(out, {}, '') as write:
        write([{'n': 2}])
        with (
            pytest.raises(InputError, match='Another run is writing'),
            conversation_file(out, {}, ''),
        ):
            pass
    assert read_lines(out)[0]['n'] == 2


def test_missing_locks_are_an_error_only_if_needed(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, 'No locks available')

    monkeypatch.setattr('fcntl.flock', refuse)
    with locked(tmp_path / 'file', 0, needed=False):
        pass
    with pytest.raises(OSError, match='No locks'):
        locked(tmp_path / 'file', 0).__enter__()


@pytest.mark.parametrize(
    'setting, expected',
    [
        ('/elsewhere', '/elsewhere/parlai_q2'),
        # Empty and relative values count as unset, as the XDG specification has it.
        ('', '/home/me/.cache/parlai_q2'),
        ('cache', '/home/me/.cache/parlai_q2'),
        (None, '/home/me/.cache/parlai_q2'),
    ],
)
def test_the_cache_folder(monkeypatch, setting, expected):
    monkeypatch.setenv('HOME', '/home/me')
    monkeypatch.delenv('XDG_CACHE_HOME', raising=False)
    if setting is not None:
        monkeypatch.setenv('XDG_CACHE_HOME', setting)
    assert str(cache_folder()) == expected


PAIR = '"knowledge": "Bees dance.", "response": "Bees dance."'
BAD = (
    f'{{{PAIR}, "p": NaN, "q": {{"r": [1, -Infinity]}}}}\n'
    f'{{{PAIR}, "p": 1e400, "kept": [null, 1.5]}}\n'
)


def strict(text):
    def refuse(written):
        raise AssertionError(f'{written} was written')

    values = [json.loads(line, parse_constant=refuse) for line in text.splitlines()]
    assert '1e400' not in text
    return values


def scored(infile, text, *options):
    """The lines that are written, and the summary."""
    infile.write_text(text)
    outfile = infile.with_name('out.jsonl')
    files = ['--infile', str(infile), '--outfile', str(outfile)]
    summary = run_command('score', *files, '--measure', 'precision', *options)
    return strict(outfile.read_text()), summary


def test_score_writes_null_and_says_so(tmp_path):
    (first, second), summary = scored(tmp_path / 'in.jsonl', BAD, '--chunk-size', '1')
    assert first['p'] is second['p'] is None
    assert first['q'] == {'r': [1, None]}
    assert second['kept'] == [None, 1.5]
    assert summary['nulled'] == {'p': 2, 'q.r': 1}
    assert summary['bad'] == 0


def test_lists_in_cells_are_counted_too(tmp_path):
    passage = '[{""text"": ""Bees dance."", ""rank"": NaN}]'
    text = f'knowledge,response\n"{passage}",Bees dance.\n'
    [line], summary = scored(tmp_path / 'in.csv', text)
    assert line['knowledge'] == [{'text': 'Bees dance.', 'rank': None}]
    assert summary['nulled'] == {'knowledge.rank': 1}
