"""What the documentation tells to run is run, page by page, as a reader would."""

import re

import pytest

from tests.docs.code_in_docs import Code, pages, read_code
from tests.docs.exceptions import reason_not_to_run
from tests.docs.running import run_command
from tests.docs.scratch import place_data, prepare
from tests.tasks import annotated_sets

ALL = [code for page in pages() for code in read_code(page)]
COMMANDS = [code for code in ALL if code.kind == 'command']
FIRST = {code.text: code for code in reversed(COMMANDS)}
OUTPUTS = re.compile(r'--(?:outdir|outfile|out) (\S+)')
# By one of these a command needs no models.
LIGHT = ('--measure overlap', '--choose overlap', '--measure precision')
LIGHT += ('Classification', 'display_data', '<<')


def is_run(code: Code) -> bool:
    """
    The same command on two pages is run once, unless a later one of its page reads what
    it makes: pages have folders of their own.
    """
    if code.kind != 'command' or reason_not_to_run(code.text):
        return code.kind == 'python'
    later = (c for c in COMMANDS if c.page == code.page and c.line > code.line)
    outputs = OUTPUTS.findall(code.text)
    read = any(name in c.text.split() for c in later for name in outputs)
    return read or FIRST[code.text] is code


RUN = [code for code in ALL if is_run(code)]


def describe(code: Code) -> str:
    words = code.text.split('\n')[0][:50] if code.kind == 'command' else code.kind
    return f'{code.page}:{code.line}: {words}'


def is_light(code: Code) -> bool:
    return any(option in code.text for option in LIGHT)


def parameters(codes: list[Code]) -> list:
    """What is run; slow where something on the page is, for it may build on that."""
    slow = {code.page for code in codes if not is_light(code)}
    marks = {page: [pytest.mark.slow] for page in slow}
    return [
        pytest.param(code, id=describe(code), marks=marks.get(code.page, []))
        for code in codes
    ]


@pytest.fixture(scope='module')
def data(tmp_path_factory):
    """ParlAI's data folder."""
    folder = tmp_path_factory.mktemp('data')
    place_data(folder)
    return folder


@pytest.fixture(scope='module')
def scratch(tmp_path_factory):
    """Gives the folder and the names of a page, which all of its code shares."""
    opened: dict = {}

    def make_scratch(page):
        if page not in opened:
            page_code = [code for code in ALL if code.page == page]
            generator = any(re.search(r'-mf model\b', code.text) for code in page_code)
            folder = prepare(tmp_path_factory.mktemp('page') / 'scratch', generator)
            for code in page_code:
                if code.kind == 'file':
                    (folder / code.name).parent.mkdir(parents=True, exist_ok=True)
                    (folder / code.name).write_text(code.text)
            opened[page] = (folder, {'__name__': 'of_the_docs'})
        return opened[page]

    return make_scratch


@pytest.mark.parametrize('code', parameters(RUN))
def test_documented_commands_run(code, scratch, data, monkeypatch, capsys):
    folder, names = scratch(code.page)
    monkeypatch.chdir(folder)
    monkeypatch.setenv('PARLAI_DATAPATH', str(data))
    annotated_sets.expect(monkeypatch)
    if code.kind == 'python':
        monkeypatch.syspath_prepend(str(folder))
        exec(compile(code.text, f'{code.page}:{code.line}', 'exec'), names)
    else:
        run_command(code.text, monkeypatch)
        output = capsys.readouterr().out
        if ' eval_model ' in code.text:
            assert ' exs ' in output
        elif ' display_' in code.text:
            assert output.count('\n') >= 3
