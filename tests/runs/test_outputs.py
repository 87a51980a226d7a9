"""Many files in, many files out; files by URL, and in Parquet."""

import json
from hashlib import sha256
from importlib.util import find_spec

import fsspec
import pytest

from parlai_q2.cli.commands import run_command
from parlai_q2.errors import ConfigError, InputError
from parlai_q2.io.files import Remote
from parlai_q2.io.parquet import write_parquet
from parlai_q2.io.read import read_lines as read_file
from parlai_q2.io.read import read_records
from parlai_q2.scorers.overlap import OverlapScorer
from tests.files import read_lines, write_lines
from tests.runs.toys import K, write_records
from tests.scoring import score_file

SCORE = ('score', '--measure', 'precision', '--chunk-size', '2', '--allow-errors')


@pytest.fixture
def shards(tmp_path):
    """Three shards, of five, one and two records."""
    (tmp_path / 'in').mkdir()
    for name, responses in (('a', 'abcde'), ('b', 'f'), ('c', 'gh')):
        write_records(tmp_path / 'in' / f'{name}.jsonl', responses)
    return tmp_path / 'in'


def score(infile, outfile, *options):
    files = ['--infile', str(infile), '--outfile', str(outfile)]
    return run_command(*SCORE, *files, *options)


def test_each_shard_is_written_as_if_it_were_alone(shards, tmp_path):
    score(shards / '*.jsonl', tmp_path / 'out')
    for name in 'abc':
        score(shards / f'{name}.jsonl', tmp_path / f'{name}.alone.jsonl')
        out = tmp_path / 'out' / f'{name}.jsonl'
        assert out.read_bytes() == (tmp_path / f'{name}.alone.jsonl').read_bytes()
    manifest = json.loads((tmp_path / 'out' / 'manifest.json').read_text())
    assert (manifest['records'], manifest['bad']) == (8, 0)
    for entry in manifest['shards']:
        content = (tmp_path / 'out' / entry['file']).read_bytes()
        assert entry['sha256'] == sha256(content).hexdigest()
        assert entry['records'] == content.count(b'\n')


def test_a_second_run_does_only_what_is_missing_or_has_changed(shards, tmp_path):
    out = tmp_path / 'out'
    score(shards / '*.jsonl', out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    (out / 'b.jsonl').unlink()
    summary = score(shards / '*.jsonl', out)
    assert [shard['records'] for shard in summary['shards']] == [1]
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    write_records(shards / 'c.jsonl', 'ghi')
    summary = score(shards / '*.jsonl', out)
    assert [shard['records'] for shard in summary['shards']] == [3]
    assert json.loads((out / 'manifest.json').read_text())['records'] == 9


@pytest.mark.parametrize(
    'pattern, problem', [('*.json', 'is also an input'), ('*.csv', 'not the manifest')]
)
def test_a_manifest_of_another_program_stays(tmp_path, pattern, problem):
    theirs = write_lines(tmp_path / 'manifest.json', {'knowledge': K, 'response': K})
    (tmp_path / 'a.csv').write_text('knowledge,response\nK,K\n')
    before = theirs.read_bytes()
    with pytest.raises(InputError, match=problem):
        score(tmp_path / pattern, tmp_path)
    assert theirs.read_bytes() == before


def test_other_fields_are_scored_anew(tmp_path):
    row = {'knowledge': 'Ants.', 'context': 'Bees.', 'response': 'Ants.'}
    (tmp_path / 'in').mkdir()
    write_lines(tmp_path / 'in' / 'a.jsonl', row)
    score(tmp_path / 'in' / '*', tmp_path / 'out', '--fields', 'knowledge=context')
    (first,) = read_lines(tmp_path / 'out' / 'a.jsonl')
    score(tmp_path / 'in' / '*', tmp_path / 'out')
    (again,) = read_lines(tmp_path / 'out' / 'a.jsonl')
    assert (first['score'], again['score']) == (0.0, 1.0)


def test_a_field_dialog_of_a_record_makes_no_conversation(tmp_path):
    row = {'dialog': ['How many?'], 'knowledge': K, 'response': K}
    write_lines(tmp_path / 'in.jsonl', row)
    score(tmp_path / 'in.jsonl', tmp_path / 'out.jsonl')
    page = run_command('report', str(tmp_path / 'out.jsonl'))
    assert page.is_file()


def test_a_page_overwrites_no_shard_and_goes_to_no_url(shards, tmp_path):
    score(shards / '*', tmp_path / 'out')
    report = ('report', str(tmp_path / 'out'), '--outfile')
    with pytest.raises(InputError, match='would overwrite'):
        run_command(*report, str(tmp_path / 'out' / 'a.jsonl'))
    with pytest.raises(ConfigError, match='a file on this machine'):
        run_command(*report, 's3://bucket/page.html')


def test_a_report_reads_the_shards(shards, tmp_path):
    out = tmp_path / 'out'
    score(shards / '*.jsonl', out)
    page = run_command('report', str(out))
    assert page.read_text().count('founded in 1969') > 0
    (out / 'b.jsonl').write_text('')
    with pytest.raises(InputError, match=r'not the file that manifest.json lists'):
        run_command('report', str(out))
    (out / 'manifest.json').unlink()
    with pytest.raises(InputError, match='Run the same command again'):
        run_command('report', str(out))


@pytest.mark.parametrize('ending', ['jsonl', 'parquet'])
def test_an_empty_file_among_many_gives_an_empty_one_and_is_named(
    shards, tmp_path, capsys, caplog, ending
):
    (shards / 'b.jsonl').write_text('')
    out = tmp_path / 'out'
    score(shards / '*.jsonl', out, '--out-format', ending)
    # Where it goes depends on whether ParlAI is loaded.
    messages = capsys.readouterr().err + caplog.text
    assert '1 of 3 files have no records: ' in messages
    manifest = json.loads((out / 'manifest.json').read_text())
    assert [shard['records'] for shard in manifest['shards']] == [5, 0, 2]
    assert list(read_file(out / f'b.{ending}')) == []
    assert run_command('report', str(out)).read_text().count('"response"') == 7


def test_files_that_are_all_empty_are_an_error(shards, tmp_path):
    for name in 'abc':
        (shards / f'{name}.jsonl').write_text('')
    for _ in range(2):
        with pytest.raises(InputError, match='no records in any of the files'):
            score(shards / '*.jsonl', tmp_path / 'out')
    with pytest.raises(InputError, match='out holds no record'):
        run_command('report', str(tmp_path / 'out'))


def test_many_files_do_not_fit_into_one(shards, tmp_path):
    with pytest.raises(ConfigError, match='must be a folder'):
        score(shards / '*.jsonl', tmp_path / 'out.jsonl')
    with pytest.raises(InputError, match='No file matches'):
        score(shards / '*.csv', tmp_path / 'out')
    (shards / 'a.csv').write_text('knowledge,response\nk,r\n')
    with pytest.raises(ConfigError, match=r'would be written to a.jsonl'):
        score(shards / '*', tmp_path / 'out')


def test_an_input_among_the_outputs_is_refused_before_anything_is_scored(shards):
    (shards / '0.csv').write_text('knowledge,response\nk,r\n')
    files = sorted(shards.iterdir())
    with pytest.raises(InputError, match=r'a.jsonl, .* is also an input'):
        score(shards / '*', shards)
    assert sorted(shards.iterdir()) == files


def test_files_by_url(shards, tmp_path):
    memory = fsspec.filesystem('memory')
    for path in shards.iterdir():
        memory.pipe_file(f'/in/{path.name}', path.read_bytes())
    try:
        score('memory://in/a.jsonl', 'memory://out/one.jsonl')
        score(shards / 'a.jsonl', tmp_path / 'one.jsonl')
        stored = memory.cat_file('/out/one.jsonl')
        assert stored == (tmp_path / 'one.jsonl').read_bytes()
        memory.pipe_file('/in/older/a.jsonl', b'')  # folders fit the pattern, too
        score('memory://in/*', 'memory://many/')
        assert memory.cat_file('/many/a.jsonl') == stored
        assert json.loads(memory.cat_file('/many/manifest.json'))['records'] == 8
        for infile, outfile in [
            ('memory://in/a.jsonl', 'memory:///in/a.jsonl'),
            ('memory://in/*.jsonl', 'memory://in/'),
            (shards / 'a.jsonl', f'local://{shards}/a.jsonl'),
        ]:
            with pytest.raises(InputError, match='is also an input'):
                score(infile, outfile)
        with pytest.raises(InputError, match=r'There is no file memory://in/z.jsonl'):
            score('memory://in/z.jsonl', tmp_path / 'out.jsonl')
    finally:
        memory.rm('/', recursive=True)


def test_what_could_not_be_stored_is_stored_by_the_next_run(shards, monkeypatch):
    memory, upload, failures = fsspec.filesystem('memory'), Remote.upload, ['b.jsonl']

    def fail_once(remote, local):
        if local.name in failures:
            failures.remove(local.name)
            raise OSError('store is away')
        upload(remote, local)

    monkeypatch.setattr(Remote, 'upload', fail_once)
    try:
        with pytest.raises(InputError, match=r'store is away.* the same command again'):
            score(shards / '*.jsonl', 'memory://flaky/')
        score(shards / '*.jsonl', 'memory://flaky/')
        assert memory.cat_file('/flaky/b.jsonl').count(b'\n') == 1
    finally:
        memory.rm('/', recursive=True)


@pytest.mark.parametrize('name', ['a.jsonl', 'a.parquet'])
def test_errors_of_a_store_are_reported(name, monkeypatch):
    with pytest.raises(InputError, match='No such file'):
        next(read_records(f'memory://nowhere/{name}'))

    def forbid(*_):
        raise PermissionError('Access Denied')  # as s3fs does

    monkeypatch.setattr(Remote, 'open', forbid)
    with pytest.raises(InputError, match=f'{name}: Access Denied'):
        next(read_records(f'memory://nowhere/{name}'))


def test_a_store_without_its_library_says_so(tmp_path):
    with pytest.raises(Exception, match='s3fs') as raised:
        score('s3://bucket/in.jsonl', tmp_path / 'out.jsonl')
    assert type(raised.value).__name__ == 'MissingPackageError'


def test_a_report_and_pairs_read_shards_by_url(shards, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    score(f'file://{shards}/*.jsonl', 'memory://many/')
    score(shards / '*.jsonl', tmp_path / 'out')
    try:
        page = run_command('report', 'memory://many')
        assert page.name == 'many.html'
        assert page.parent.resolve() == tmp_path
        with open(run_command('report', str(tmp_path / 'out'))) as stream:
            text = stream.read().replace('from out<', 'from many<')
            assert page.read_text() == text
        with pytest.raises(InputError, match='many has no ranked turns'):
            run_command('pairs', infile='memory://many', outfile='pairs.jsonl')
    finally:
        fsspec.filesystem('memory').rm('/', recursive=True)


pyarrow = pytest.mark.skipif(
    find_spec('pyarrow') is None, reason='pyarrow is not installed'
)


@pyarrow
def test_parquet_holds_what_json_lines_hold(shards, tmp_path):
    from pyarrow import dataset

    with open(shards / 'b.jsonl', 'a') as stream:
        for options in (
            {'n': 1, 'mixed': 1, 'tags': ['x'], 'at': {'a': [1, None]}, 'big': 2**70},
            {'n': 2.5, 'mixed': 'a', 'tags': [], 'at': None, 'odd': '\ud800'},
            {'response': 7},
        ):
            row = {'knowledge': K, 'response': 'r', **options}
            stream.write(json.dumps(row) + '\n')
        stream.write('not json\n')
    score(shards / '*.jsonl', tmp_path / 'lines')
    score(shards / '*.jsonl', tmp_path / 'out', '--out-format', 'parquet')
    for name in 'abc':
        lines = read_lines(tmp_path / 'lines' / f'{name}.jsonl')
        for line in lines:
            # An empty cell and a field that is not there are the same.
            assert line.pop('at', 0) in (0, None, {'a': [1, None]})
        rows = [r.fields for r in read_records(tmp_path / 'out' / f'{name}.parquet')]
        assert [{k: v for k, v in row.items() if k != 'at'} for row in rows] == lines
    manifest = json.loads((tmp_path / 'out' / 'manifest.json').read_text())
    assert (manifest['records'], manifest['bad']) == (12, 2)
    # The columns that a score has are the same in all files, so that others read them.
    files = sorted((tmp_path / 'out').glob('*.parquet'))
    tables = [dataset.dataset(path).to_table() for path in files]
    for name in ('kind', 'score', 'label', 'claims', 'parts', 'line', 'error'):
        assert len({str(table.schema.field(name).type) for table in tables}) == 1
    assert str(tables[0].schema.field('score').type) == 'double'


@pyarrow
def test_a_parquet_file_is_made_of_a_run_that_was_stopped(
    shards, tmp_path, monkeypatch
):
    from parlai_q2.runs import file_run

    out = tmp_path / 'out.parquet'
    score(shards / 'a.jsonl', out)
    whole = out.read_bytes()
    out.unlink()

    def stop(lines, path, columns):
        path.write_bytes(b'PAR1 half')
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(file_run, 'write_parquet', stop)
        with pytest.raises(KeyboardInterrupt):
            score(shards / 'a.jsonl', out)
    assert not out.exists()
    assert (tmp_path / 'out.parquet.part').exists()
    score(shards / 'a.jsonl', out)
    assert out.read_bytes() == whole
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == [
        'out.parquet',
        'out.parquet.meta.json',
    ]


@pyarrow
def test_pools_are_read_from_parquet_and_written_to_it(tmp_path):
    pools = [
        {'id': n, 'knowledge': K, 'candidates': ['in 1969', {'text': f'{n} shops'}]}
        for n in range(5)
    ]
    write_lines(tmp_path / 'in.jsonl', *pools)
    write_parquet(tmp_path / 'in.jsonl', tmp_path / 'in.parquet')
    rows = []
    for source, target in (('in.jsonl', 'a.jsonl'), ('in.parquet', 'b.parquet')):
        files = ['--infile', str(tmp_path / source)]
        files += ['--outfile', str(tmp_path / target)]
        run_command('rerank', *files, '--choose', 'precision', '--explain', 'none')
        rows.append([line.value for line in read_file(tmp_path / target)])
    assert rows[0] == rows[1]


def test_the_format_of_one_file_is_told_by_its_name(shards, tmp_path):
    out = tmp_path / 'out.jsonl'
    with pytest.raises(ConfigError, match=r'--outfile out.jsonl.parquet'):
        score(shards / 'a.jsonl', out, '--out-format', 'parquet')


@pyarrow
def test_parquet_is_scored_like_the_same_json_lines(tmp_path):
    import pyarrow
    from pyarrow import parquet

    rows = [
        {'id': n, 'knowledge': [K, 'Other.'], 'response': f'shop {n}', 'seen': n / 3}
        for n in range(700)
    ]
    rows[3]['response'] = None
    table = pyarrow.Table.from_pylist(rows)
    parquet.write_table(table, tmp_path / 'in.parquet', row_group_size=300)
    write_lines(tmp_path / 'in.jsonl', *rows)
    score(tmp_path / 'in.parquet', tmp_path / 'a.jsonl')
    score(tmp_path / 'in.jsonl', tmp_path / 'b.jsonl')
    a, b = read_lines(tmp_path / 'a.jsonl'), read_lines(tmp_path / 'b.jsonl')
    assert 'in.parquet, line 4' in a[3].pop('error')
    assert 'in.jsonl, line 4' in b[3].pop('error')
    assert a == b
    (tmp_path / 'in.parquet').write_bytes(b'PAR1 and nothing')
    with pytest.raises(InputError, match='cannot be read as Parquet'):
        score(tmp_path / 'in.parquet', tmp_path / 'c.jsonl')


@pytest.mark.parametrize('records', [1, 3, 100])
def test_a_file_is_finished_before_the_next_one_fails(tmp_path, records):
    class Failing(OverlapScorer):
        def score(self, examples):
            if any(example.response == 'stop' for example in examples):
                raise KeyboardInterrupt
            return super().score(examples)

    (tmp_path / 'in').mkdir()
    write_records(tmp_path / 'in' / 'a.jsonl', ['good'] * records)
    write_records(tmp_path / 'in' / 'b.jsonl', ['stop'])
    with pytest.raises(KeyboardInterrupt):
        score_file(
            tmp_path / 'in' / '*.jsonl', tmp_path / 'out', Failing(), chunk_size=2
        )
    names = {path.name for path in (tmp_path / 'out').iterdir()}
    assert {'a.jsonl', 'a.jsonl.meta.json'} <= names
    assert 'b.jsonl' not in names
