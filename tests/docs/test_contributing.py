"""The change that CONTRIBUTING.md walks through can be made, and works."""

import re
import shutil
import subprocess

import pytest

from tests.conftest import ROOT
from tests.files import run_python

SCORE = """
from parlai_q2 import Example, load_scorer
scorer = load_scorer('numbers')
pairs = [('It opened in 1969.', text) for text in ('in 1969', 'in 1854', 'Hm.')]
print([score.value for score in scorer.score([Example(*pair) for pair in pairs])])
"""


@pytest.mark.skipif(not shutil.which('git'), reason='needs git, to apply a diff')
def test_the_scorer_of_the_diff_works(tmp_path):
    page = (ROOT / 'CONTRIBUTING.md').read_text('utf-8')
    (diff,) = re.findall(r'```diff\n(.*?)```', page, re.S)
    copy = tmp_path / 'parlai_q2'
    left_out = shutil.ignore_patterns('agents', 'tasks', 'zoo', '__pycache__')
    shutil.copytree(ROOT / 'parlai_q2', copy, ignore=left_out)
    apply = ['git', 'apply', '--unidiff-zero', '-']
    subprocess.run(apply, cwd=tmp_path, input=diff, text=True, check=True)
    completed = run_python(SCORE, cwd=tmp_path, env={'PYTHONPATH': str(tmp_path)})
    assert completed.stdout == '[1.0, 0.0, 0.5]\n', completed.stderr
