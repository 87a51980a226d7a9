"""An index follows its documents: what changed is read, what is gone leaves it."""

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from parlai_q2.errors import InputError
from parlai_q2.retrieve import build as building
from parlai_q2.retrieve.build import build, find_documents
from parlai_q2.retrieve.index import Index, IndexSettings
from parlai_q2.retrieve.readers import DIRECT
from parlai_q2.retrieve.store import Document, Store
from parlai_q2.turns import Passage
from tests.retrieve import documents


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder ``docs`` with two documents, which is beside the current one's index."""
    monkeypatch.chdir(tmp_path)
    put('a.txt', 'Pumps are blue.')
    put('sub/b.md', '# Hoses\n\nHoses bend.')
    return tmp_path


def put(name, text):
    path = Path('docs', name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding='utf-8')


def built(**settings):
    return build(['docs'], Path('index'), IndexSettings(**settings))[1]


def found(query, k=3):
    return [hit.passage.text for hit in Index('index').search([query], k)[0]]


def test_reads_only_changed_documents(folder, monkeypatch):
    built()
    read = []
    monkeypatch.setitem(DIRECT, '.txt', spied(DIRECT['.txt'], read))
    put('a.txt', 'Pumps are green.')
    put('c.txt', 'Valves hiss.')
    os.remove('docs/sub/b.md')
    changes = built()
    assert (changes.added, changes.changed) == (['docs/c.txt'], ['docs/a.txt'])
    assert (changes.removed, changes.unchanged) == (['docs/sub/b.md'], 0)
    assert [path.name for path in read] == ['a.txt', 'c.txt']
    hits = sorted(found('pumps blue hoses valves'))
    assert hits == ['Pumps are green.', 'Valves hiss.']


def spied(reader, read):
    def reading(path):
        read.append(path)
        return reader(path)

    return reading


def test_rebuilding_without_changes_keeps_the_index(folder):
    built()
    before = {p: p.stat().st_mtime_ns for p in Path('index').rglob('*') if p.is_file()}
    os.utime('docs/a.txt')
    changes = built()
    assert not changes
    assert changes.unchanged == 2
    after = {p: p.stat().st_mtime_ns for p in Path('index').rglob('*') if p.is_file()}
    assert {p: t for p, t in after.items() if p.suffix != '.lock'} == {
        p: t for p, t in before.items() if p.suffix != '.lock'
    }


def test_other_settings_make_all_passages_again(folder):
    put('a.txt', 'Pumps are very blue indeed here. ' * 3)
    built(words=40, overlap=0)
    assert len(Index('index')) == 2
    assert len(built(words=10, overlap=0).added) == 2
    assert len(Index('index')) == 4


def test_an_index_brought_up_to_date_finds_what_a_new_one_finds(folder):
    built()
    put('a.txt', 'Pumps are green.\n\nPumps hum.')
    built()
    updated = Index('index')
    build(['docs'], Path('new'))
    new = Index('new')
    assert updated.signature == new.signature
    for query in ('pumps', 'green hoses', 'hum'):
        assert [f.passage for f in updated.search([query], 5)[0]] == [
            f.passage for f in new.search([query], 5)[0]
        ]


def test_open_indexes_survive_a_rebuild(folder):
    built()
    opened = Index('index')
    put('a.txt', 'Pumps are green.')
    built()
    assert opened.search(['pumps'], 1)[0][0].passage.text == 'Pumps are blue.'
    assert found('pumps') == ['Pumps are green.']


def test_every_file_that_is_left_out_is_listed_and_the_others_are_read(
    folder, tmp_path_factory
):
    Path('docs/bad.pdf').write_bytes(b'%PDF-1.4 oh')
    documents.pdf(Path('docs/good.pdf'), 'Valves hiss.')
    Path('docs/photo.png').write_bytes(b'x')
    secret = tmp_path_factory.mktemp('elsewhere') / 'secret.txt'
    secret.write_text('The password is swordfish.')
    os.symlink(secret, 'docs/link.txt')
    os.symlink(secret.parent, 'docs/linked')
    os.symlink('a.txt', 'docs/inside.txt')
    for n in range(30):
        put(f'empty{n}.txt', '')
    changes = built()
    assert 'docs/inside.txt' in changes.added
    assert found('valves') == ['Valves hiss.']
    assert found('password swordfish') == []
    rows = map(json.loads, Path('index/left_out.jsonl').read_text().splitlines())
    reasons = {row['file']: row['reason'] for row in rows}
    assert len(reasons) == 34
    assert reasons['docs/empty29.txt'] == 'it has no text'
    assert reasons['docs/bad.pdf'].startswith('it is no PDF')
    assert reasons['docs/photo.png'] == 'files of its kind are not read'
    assert reasons['docs/link.txt'] == 'it leads out of its folder'
    for pattern in ('docs/*', 'docs/**/*.txt'):
        files = find_documents([pattern]).files
        assert not any('link' in name for name in files)
        assert 'docs/inside.txt' in files
    shutil.rmtree('docs')
    put('a.txt', 'Pumps are green.')
    built()
    assert not Path('index/left_out.jsonl').exists()


def test_a_document_that_broke_leaves_the_index(folder):
    built()
    Path('docs/a.txt').write_bytes(b'\0')
    changes = built()
    assert (changes.removed, found('pumps')) == (['docs/a.txt'], [])


def test_a_broken_table_leaves_none_of_its_rows(folder):
    put('t.csv', 'text\nValves hiss.\n')
    Path('docs/u.csv').write_bytes(b'\xff\xfetext')
    assert [e.path for e in built().refused] == ['docs/u.csv']
    assert found('valves hiss') == ['Valves hiss.']


def test_a_large_document_is_refused_by_its_size(folder, monkeypatch):
    put('sub/b.md', 'x' * 16)
    monkeypatch.setattr(building, 'LARGEST', 15)
    (problem,) = built().refused
    assert 'has 16 bytes; at most 15 are read' in str(problem)


KILLED = """
import os, signal, sys
from pathlib import Path
from parlai_q2.retrieve import build as building
from parlai_q2.retrieve.ranking import Bm25
building.COMMIT_SECONDS = 0
seen = []
def done(name):
    seen.append(name)
    if len(seen) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
building.build(['docs'], Path('index'), report_document=done)
"""


def kill_a_run():
    killed = subprocess.run([sys.executable, '-c', KILLED], capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr


def test_a_run_that_was_killed_goes_on_and_is_never_seen(folder):
    put('z.txt', 'Valves hiss.')
    kill_a_run()
    with pytest.raises(InputError, match='There is no index in index'):
        Index('index')
    changes = built()
    # The first was committed before the second was done.
    assert changes.unchanged >= 1
    assert found('valves pumps hoses')
    assert len(Index('index')) == 3


def test_a_killed_update_leaves_the_index_as_it_was(folder):
    built()
    put('a.txt', 'Pumps are green.')
    put('aa.txt', 'Valves hiss.')
    kill_a_run()
    assert found('pumps') == ['Pumps are blue.']
    built()
    assert found('pumps') == ['Pumps are green.']
    assert sorted(p.name for p in Path('index').iterdir() if p.is_dir()) == ['words-2']


class Stopped(BaseException):
    """What ends a run, as Ctrl-C does."""


@pytest.mark.parametrize(
    'name', ['content_digest', 'checksums', 'write_manifest', 'drop_others']
)
@pytest.mark.parametrize('update', [False, True])
def test_a_run_that_is_stopped_late_is_made_good_by_the_next(
    folder, monkeypatch, update, name
):
    """Also where that finds nothing to read any more."""
    os.remove('docs/sub/b.md')
    if update:
        built()
        put('a.txt', 'Pumps are green.')

    def stop(*arguments):
        raise Stopped

    with monkeypatch.context() as patched:
        patched.setattr(building, name, stop)
        with pytest.raises(Stopped):
            built()
    built()
    assert found('pumps') == ['Pumps are green.' if update else 'Pumps are blue.']
    assert len([p for p in Path('index').iterdir() if p.is_dir()]) == 1
    Index('index', verify=True)


def test_a_run_killed_in_a_commit_does_not_block_the_next(tmp_path):
    before, after, remaining = (tmp_path / name for name in ('before', 'after', 'left'))
    before.mkdir()
    store = Store(before)
    for name in ('a', 'b'):
        store.add(Document(name), [Passage(f'{name} is red.')])
    store.finish()
    shutil.copytree(before, after)
    changed = Store(after)
    changed.remove('a')
    changed.commit()
    # All is written but the list that names it.
    shutil.copytree(after, remaining)
    shutil.copy(before / 'meta.json', remaining / 'meta.json')
    again = Store(remaining)
    assert set(again.documents()) == {'a', 'b'}
    again.remove('a')
    again.commit()
    assert set(again.documents()) == {'b'}


def test_two_runs_do_not_write_one_index(folder):
    code = (
        'import sys, time\nfrom pathlib import Path\n'
        'from parlai_q2.retrieve.build import build\n'
        'def done(name):\n    print(flush=True)\n    time.sleep(60)\n'
        'build(["docs"], Path("index"), report_document=done)'
    )
    other = subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.PIPE)
    try:
        assert other.stdout is not None
        assert other.stdout.readline()
        with pytest.raises(InputError, match='Another run is writing index'):
            built()
    finally:
        other.kill()
        other.communicate()
    assert built()


def test_folders_of_other_things_are_not_written_to(folder):
    Path('mine').mkdir()
    Path('mine/thesis.txt').write_text('Years of work.')
    Path('mine/site-building').mkdir()
    with pytest.raises(InputError, match='has other files, such as site-building'):
        build(['docs'], Path('mine'))
    with pytest.raises(InputError, match='is not a folder'):
        build(['docs'], Path('docs/a.txt'))


@pytest.mark.parametrize('name', ['building', 'vectors-building', 'words-3'])
def test_folders_of_other_things_stay_whatever_their_name(folder, name):
    thesis = Path(f'mine/{name}/thesis.txt')
    thesis.parent.mkdir(parents=True)
    thesis.write_text('Years of work.')
    with pytest.raises(InputError, match=f'has other files, such as {name}'):
        build(['docs'], Path('mine'))
    built()
    beside = Path('index', name)
    shutil.copytree(thesis.parent, beside)
    put('a.txt', 'A new text of some words.')
    with nullcontext() if name == 'words-3' else pytest.raises(InputError, match=name):
        built()
    assert (beside / 'thesis.txt').exists()


def test_a_file_of_another_program_is_no_index(folder):
    Path('mine').mkdir()
    Path('mine/index.json').write_text('{"pages": 3}')
    with pytest.raises(InputError, match='belongs to no index'):
        build(['docs'], Path('mine'))


def test_folders_beside_an_index_stay(folder):
    built()
    mine = [Path('index/words-of-thanks'), Path('index/vectors-2b')]
    for path in mine:
        path.mkdir()
    put('a.txt', 'A new text of some words.')
    manifest, _ = build(['docs'], Path('index'))
    kept = sorted(path.name for path in Path('index').glob('[wv]*-*'))
    assert kept == ['vectors-2b', manifest.folder, 'words-of-thanks']


def test_errors_name_missing_paths(folder):
    with pytest.raises(InputError, match='There is no nowhere'):
        build(['nowhere'], Path('index'))
    Path('empty').mkdir()
    with pytest.raises(InputError, match='no document in empty'):
        build(['empty'], Path('index'))
    put('a.txt', ' \n')
    os.remove('docs/sub/b.md')
    with pytest.raises(InputError, match='None of the documents could be read'):
        built()


def test_patterns_and_files_are_documents_too(folder):
    _, changes = build(['docs/**/*.md', 'docs/a.txt'], Path('index'))
    assert changes.added == ['docs/sub/b.md', 'docs/a.txt']


def test_errors_name_damaged_or_missing_files(folder):
    built()
    files = [p for p in Path('index').rglob('*') if p.is_file() and p.suffix != '.lock']
    assert len(files) > 5
    for path in files:
        good = path.read_bytes()
        middle = len(good) // 2
        path.write_bytes(good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :])
        if path.name != 'index.json':
            with pytest.raises(InputError, match=f'{path.name} is damaged'):
                Index('index')
            path.unlink()
            with pytest.raises(InputError, match=f'{path.name} is missing'):
                Index('index')
        path.write_bytes(good)
    for text in ('', '{', '[]', '{"format": 1}', '{"format": 99}', '\x00'):
        Path('index/index.json').write_text(text)
        with pytest.raises(InputError, match=r'index.json.*make it again'):
            Index('index')


def test_a_manifest_leads_nowhere_else(folder):
    built()
    path = Path('index/index.json')
    path.write_text(path.read_text().replace('words-1', '../docs'))
    with pytest.raises(InputError, match=r'damaged|missing'):
        Index('index')
