"""
Sphinx's settings: ``make docs`` writes the site to outputs/docs, warnings as errors.

The site's source folder is the checkout itself, with this folder for its settings
(``sphinx-build -c docs .``). So the pages of docs/ and the READMEs that stand beside
their code in tasks/ and zoo/ link to one another by the same relative paths on a code
host and in the site.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from parlai_q2.version import __version__  # noqa: E402

project = 'parlai_q2'
author = copyright = 'the parlai_q2 authors'
release = version = __version__
extensions = ['myst_parser']
source_suffix = {'.md': 'markdown'}
root_doc = 'docs/index'
include_patterns = [
    'docs/**/*.md',
    'docs/*.md',
    'tasks/*/README.md',
    'zoo/*/README.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
]
# Folders that hold no page are not walked: .venv has more files than all else together.
exclude_patterns = ['.*', '*.egg-info', 'agents', 'build', 'dist', 'outputs']
exclude_patterns += ['parlai_q2', 'requirements', 'tests']

html_theme = 'furo'
html_title = 'parlai_q2'
# Nothing on a page comes from elsewhere: the site reads well offline.
html_static_path = ['_static']
html_css_files = ['site.css']
# index.html, which leads to the root document.
html_extra_path = ['_extra']
html_copy_source = False

myst_heading_anchors = 3
myst_enable_extensions = ['colon_fence']
# Blocks whose language no highlighter knows (ParlAI's output) are shown as they are.
highlight_language = 'none'
