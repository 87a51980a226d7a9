"""The documentation builds without a warning, and each of its links leads somewhere."""

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Sphinx's own pages, and the tools that built the site.
NOT_OURS = ('genindex.html', 'search.html', 'py-modindex.html')

pytestmark = pytest.mark.slow


@pytest.fixture(scope='module')
def site(tmp_path_factory) -> Path:
    """The site, built as ``make docs`` builds it."""
    for package in ('sphinx', 'myst_parser', 'furo'):
        pytest.importorskip(package, reason='is for Python 3.11 and newer')
    folder = tmp_path_factory.mktemp('site')
    command = [sys.executable, '-m', 'sphinx', '-W', '--keep-going', '-q']
    command += ['-c', 'docs', '-d', str(folder / 'doctrees'), '.', str(folder / 'html')]
    completed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr[-5000:]
    return folder / 'html'


def pages(site: Path) -> list[Path]:
    paths = [p for p in sorted(site.rglob('*.html')) if '_modules' not in p.parts]
    return [page for page in paths if page.name not in NOT_OURS]


def test_a_link_within_the_site_leads_to_a_page_and_a_place_in_it(site):
    checked = 0
    for page in pages(site):
        for link in re.findall(r'<a [^>]*?href="([^"]*)"', page.read_text('utf-8')):
            if re.match(r'[a-z]+:', link):
                continue
            path, place = urldefrag(unquote(link))
            target = (page.parent / path).resolve() if path else page
            assert target.is_file(), f'{page.relative_to(site)}: {link}'
            if place and target.suffix == '.html':
                assert f'id="{place}"' in target.read_text('utf-8'), f'{page}: {link}'
            checked += 1
    assert checked > 100


def test_pages_load_nothing_from_other_hosts(site):
    loads = r'<(?:script|img|link rel="stylesheet")[^>]*? (?:src|href)="(https?:[^"]*)"'
    for page in pages(site):
        assert re.findall(loads, page.read_text('utf-8')) == []
